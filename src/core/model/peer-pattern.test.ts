import { expect, test } from "vitest";
import { allowsPeer, isPeerPattern } from "./peer-pattern.ts";

const WEB = "spiffe://portolan/service/default/web";

test.each([
  [[WEB], WEB, true],
  [[WEB], `${WEB}2`, false],
  [["spiffe://portolan/service/default/*"], WEB, true],
  [["spiffe://portolan/service/def/*"], WEB, false],
  [["spiffe://portolan/*"], WEB, true],
  [["spiffe://other/*"], WEB, false],
  [[`!${WEB}`, "spiffe://portolan/*"], WEB, false],
  [["spiffe://portolan/*", `!${WEB}`], WEB, true],
  [[`!${WEB}`], "spiffe://portolan/service/default/shop", false],
  [[], WEB, false],
])("%j and %s: %s", (patterns, identity, isAllowed) => {
  expect(allowsPeer(patterns, identity)).toBe(isAllowed);
});

test.each([
  "",
  "*",
  "spiffe://",
  "spiffe:///a",
  "spiffe://A/b",
  "spiffe://a/b*",
  "spiffe://a/*/b",
  "http://a/b",
  "spiffe://a//b",
  "!!spiffe://a/b",
  "spiffe://a/b c",
])("%j is no pattern", (text) => {
  expect(isPeerPattern(text)).toBe(false);
});
