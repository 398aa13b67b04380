import { expect, test } from "vitest";
import { createLoopLog } from "./loop-log.ts";

test("passes lines on with their level and fields", () => {
  const sent: unknown[] = [];
  const log = createLoopLog({ nowMs: () => 0, send: (...line) => void sent.push(line) });
  log.debug({ a: 1 }, "one");
  log.error({ b: 2 }, "two");
  expect(sent).toEqual([
    ["debug", { a: 1 }, "one"],
    ["error", { b: 2 }, "two"],
  ]);
});

test("leaves out what is too much, and says how much that was", () => {
  const sent: string[] = [];
  let nowMs = 0;
  const log = createLoopLog({
    nowMs: () => nowMs,
    send: (level, fields, message) =>
      void sent.push(`${level} ${JSON.stringify(fields)} ${message}`),
  });
  for (let index = 0; index < 500; index += 1) log.info({}, "again");
  expect(sent).toHaveLength(200);
  nowMs = 1000;
  log.info({}, "later");
  expect(sent.slice(200)).toEqual([
    'warn {"leftOut":300} log lines of this loop were left out',
    "info {} later",
  ]);
});

test("fields that can not be sent do not lose the line", () => {
  const sent: unknown[] = [];
  const log = createLoopLog({
    nowMs: () => 0,
    send: (level, fields, message) => sent.push(structuredClone([level, fields, message])),
  });
  log.warn({ callback: () => undefined }, "with a function");
  expect(sent).toMatchObject([
    ["warn", { fields: expect.stringMatching(/clone/) }, "with a function"],
  ]);
});
