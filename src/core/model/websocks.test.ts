import { expect, test } from "vitest";
import { parseWebsocksUrl, withoutPassword } from "./websocks.ts";

test.each([
  ["ws://alice@10.0.0.1:18686", { host: "10.0.0.1", port: 18_686, isSecure: false, path: "/" }],
  ["wss://alice@a.example/t?x=1", { host: "a.example", port: 443, isSecure: true, path: "/t?x=1" }],
  ["ws://al%40ice@[::1]:80", { host: "::1", port: 80, user: "al@ice" }],
])("%s is a server", (text, url) => {
  expect(parseWebsocksUrl(text)).toMatchObject(url);
});

test.each([
  "http://alice@a.example:80",
  "ws://a.example:80",
  "ws://alice:secret@a.example:80",
  "ws://alice@a.example:0",
  "ws://alice@a.example:80/a b",
  "ws://%@a.example:80",
])("%s is none", (text) => {
  expect(parseWebsocksUrl(text)).toBeUndefined();
});

test.each([
  ["ws://alice:secret@a.example:80", "ws://alice:...@a.example:80"],
  ["ws://alice:se/cr@et:s@a.example:80", "ws://alice:...@a.example:80"],
  ["wss:/alice:secret@a.example", "wss:...@a.example"],
  ["alice:secret@a.example:80", "alice:...@a.example:80"],
  ["ws://alice@a.example:99999", "ws://alice@a.example:99999"],
  ["ws://[::1]:80", "ws://[::1]:80"],
])("%s is shown as %s", (text, shown) => {
  expect(withoutPassword(text)).toBe(shown);
});
