import { expect, test } from "vitest";
import { NO_HINTS, type RouteHints } from "../model/route-hints.ts";
import type { RequestHint } from "./packet.ts";
import { isBetterScore, scoreHints } from "./request-hints.ts";

const score = (hints: Partial<RouteHints>, request: RequestHint) =>
  scoreHints({ ...NO_HINTS, ...hints }, request);

test.each([
  ["a.example", "a.example", 3],
  ["A.Example", "a.eXample.", 3],
  ["a.example", "a.example:8080", 3],
  ["*.example", "a.example", 2],
  ["*.example", "b.a.example", 2],
  ["*", "a.example", 1],
  ["*.example", "example", undefined],
  ["*.example", "notexample", undefined],
  ["a.example", "b.a.example", undefined],
  ["[fd00::1]", "[fd00::1]:80", 3],
])("host %s for a request to %s: %s", (own, asked, expected) => {
  expect(score({ host: own }, { host: asked })?.host).toBe(expected);
});

test.each([
  ["/a", "/a", 2],
  ["/a", "/a/", 2],
  ["/a/", "/a/b?c=d", 2],
  ["/a/b", "/a/b/c", 3],
  ["/", "/a", 1],
  ["/a", "/ab", undefined],
  ["/a/b", "/a", undefined],
])("path %s for a request for %s: %s", (own, asked, expected) => {
  expect(score({ path: own }, { path: asked })?.path).toBe(expected);
});

test("a port alone is enough, and another port does not suit", () => {
  expect(score({ port: 80 }, { port: 80 })).toEqual({ host: 0, path: 0, port: 1 });
  expect(score({ port: 80 }, { host: "a.example:80" })).toEqual({ host: 0, path: 0, port: 1 });
  expect(score({ host: "a.example", port: 80 }, { host: "a.example:81" })).toBeUndefined();
});

test("what one side does not say does not count", () => {
  const hints = { host: "a.example", path: "/a" };
  expect(score(hints, { host: "a.example" })).toEqual({ host: 3, path: 0, port: 0 });
  expect(score(hints, { host: "a.example", path: "/b" })).toBeUndefined();
  expect(score({}, { host: "a.example", path: "/b" })).toBeUndefined();
  expect(score(hints, {})).toBeUndefined();
});

test("the host counts before the path, and that before the port", () => {
  const ascending = [
    { host: 0, path: 0, port: 1 },
    { host: 0, path: 1, port: 0 },
    { host: 0, path: 1, port: 1 },
    { host: 1, path: 0, port: 0 },
    { host: 3, path: 0, port: 0 },
  ];
  for (const [index, low] of ascending.entries()) {
    for (const high of ascending.slice(index + 1)) {
      expect(isBetterScore(high, low)).toBe(true);
      expect(isBetterScore(low, high)).toBe(false);
    }
    expect(isBetterScore(low, low)).toBe(false);
  }
});
