import { expect, test } from "vitest";
import { isOurHost, isOurOrigin } from "./check-site.ts";

const HOSTS = new Set(["lb.example"]);

test.each([
  "127.0.0.1",
  "127.0.0.1:18776",
  "10.1.2.3:80",
  "[::1]:18776",
  "[fd00::1]",
  "localhost",
  "LocalHost:18776",
  "localhost.",
  "lb.example",
  "LB.example:18776",
])("%s may be a name of this machine", (host) => {
  expect(isOurHost(host, HOSTS)).toBe(true);
});

test.each([
  "evil.example",
  "evil.example:18776",
  "127.0.0.1.evil.example",
  "localhost.evil.example",
  "xlb.example",
  "[::1",
  "::1",
  "127.0.0.1:port",
  "127.0.0.1@evil.example",
  "1.2.3.4.5",
  "0x7f.1",
  "",
  " ",
])("%j may not", (host) => {
  expect(isOurHost(host, HOSTS)).toBe(false);
});

test("pages of the controller itself may use it, others not", () => {
  expect(isOurOrigin(undefined, "127.0.0.1:1")).toBe(true);
  expect(isOurOrigin("http://127.0.0.1:1", "127.0.0.1:1")).toBe(true);
  expect(isOurOrigin("https://LB.example", "lb.example")).toBe(true);
  for (const origin of [
    "null",
    "http://evil.example",
    "http://127.0.0.1:2",
    "http://127.0.0.1",
    "",
  ]) {
    expect(isOurOrigin(origin, "127.0.0.1:1")).toBe(false);
  }
});
