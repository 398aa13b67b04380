import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { NO_PAINT, paintFor, TERMINAL_PAINT } from "./paint.ts";
import { renderTable } from "./render-table.ts";

const COLUMNS = [{ title: "NAME" }, { title: "COUNT", isNumber: true }, { title: "WHY" }];

test("cells of a column stand below each other, numbers end there, no line ends with spaces", () => {
  const rows = [
    ["web", "7", ""],
    ["longer-name", "1234567", "because"],
  ];
  expect(renderTable(COLUMNS, rows, NO_PAINT)).toEqual([
    "NAME           COUNT  WHY",
    "web                7",
    "longer-name  1234567  because",
  ]);
});

test("colours take no room", () => {
  const rows = [[{ text: "up", colour: "green" } as const, "1", "x"]];
  const [, line] = renderTable(COLUMNS, rows, TERMINAL_PAINT);
  expect(line).toBe("\u001b[32mup\u001b[39m        1  x");
});

test("colours are for terminals, unless nobody wants them", () => {
  const context = (isTTY: boolean, environment = {}) => ({
    stdout: Object.assign(new PassThrough(), { isTTY }),
    stderr: new PassThrough(),
    environment,
    hostName: "host",
  });
  expect(paintFor(context(true))).toBe(TERMINAL_PAINT);
  expect(paintFor(context(false))).toBe(NO_PAINT);
  expect(paintFor(context(true, { NO_COLOR: "1" }))).toBe(NO_PAINT);
  expect(paintFor(context(true, { TERM: "dumb" }))).toBe(NO_PAINT);
});
