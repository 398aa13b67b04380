import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { DEFAULT_LIMITS } from "./resp-limits.ts";

const PAGE = readFileSync(new URL("../../../docs/controllers.md", import.meta.url), "utf8");

test.each([
  ["bytes of a command", DEFAULT_LIMITS.maxMessageBytes],
  ["words of a command", DEFAULT_LIMITS.maxElements],
  ["connections", DEFAULT_LIMITS.maxConnections],
  ["seconds without a command", DEFAULT_LIMITS.idleTimeoutMs / 1000],
  ["seconds until the password", DEFAULT_LIMITS.loginTimeoutMs / 1000],
  ["seconds without reading the answers", DEFAULT_LIMITS.stallTimeoutMs / 1000],
  ["bytes of answers that wait, of all", DEFAULT_LIMITS.maxBufferedBytes],
])("docs/controllers.md says how many there may be: %s", (what, limit) => {
  expect(PAGE).toContain(`| ${what} | ${limit.toLocaleString("en")} |`);
});

test("docs/controllers.md says how long a wrong password costs", () => {
  const { authDelayMs, maxAuthDelayMs } = DEFAULT_LIMITS;
  expect(PAGE).toContain(`(${authDelayMs / 1000} s to ${maxAuthDelayMs / 1000} s)`);
});
