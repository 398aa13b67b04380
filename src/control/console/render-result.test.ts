import { expect, test } from "vitest";
import type { Result, ResultRecord } from "../result.ts";
import { type RenderOptions, renderFailure, renderResult } from "./render-result.ts";

const PIPE: RenderOptions = { json: false, width: undefined, hasColours: false };
const RECORDS: readonly ResultRecord[] = [
  { name: "lb0", address: "0.0.0.0:80", timeout: 900_000, certificates: ["a", "b"], up: true },
  { name: "other", address: "", timeout: 5, hints: { host: "a b" }, certificates: [] },
];

const records = (options: Partial<RenderOptions> = {}): readonly string[] =>
  renderResult({ kind: "records", records: RECORDS }, { ...PIPE, ...options }).split("\n");

test("records are a table: numbers end below each other, what is empty is a dash", () => {
  expect(records()).toEqual([
    "name   address     timeout  certificates  up    hints",
    "lb0    0.0.0.0:80   900000  a,b           true  -",
    'other  -                 5  -             -     {"host":"a b"}',
    "",
  ]);
});

test("where the terminal is too narrow for a table, a field has a line", () => {
  expect(records({ width: 60 })).toEqual([
    "name          lb0",
    "address       0.0.0.0:80",
    "timeout       900000",
    "certificates  a,b",
    "up            true",
    "",
    "name          other",
    "address       -",
    "timeout       5",
    'hints         {"host":"a b"}',
    "certificates  -",
    "",
  ]);
  expect(records({ width: 80 })[0]).toMatch(/^name +address/);
});

test.each<[Result, string]>([
  [{ kind: "done", note: "" }, "(done)\n"],
  [{ kind: "done", note: "it drains" }, "(done) it drains\n"],
  [{ kind: "names", names: ["a", "b"] }, "a\nb\n"],
  [{ kind: "names", names: [] }, ""],
  [{ kind: "records", records: [] }, ""],
  [{ kind: "number", value: 12 }, "12\n"],
  [{ kind: "text", text: "two\nlines\n" }, "two\nlines\n"],
])("%j", (result, text) => {
  expect(renderResult(result, PIPE)).toBe(text);
});

test("a person is told that there is nothing", () => {
  const terminal = { ...PIPE, width: 80 };
  expect(renderResult({ kind: "names", names: [] }, terminal)).toBe("(none)\n");
  expect(renderResult({ kind: "records", records: [] }, terminal)).toBe("(none)\n");
});

test("nothing that is shown can give orders to the terminal", () => {
  const evil = "a\u001b]0;title\u0007\u009b\u202eb\nc\td";
  const shown = [
    renderResult({ kind: "names", names: [evil] }, PIPE),
    renderResult({ kind: "records", records: [{ name: evil }] }, PIPE),
    renderResult({ kind: "text", text: evil }, PIPE),
    renderResult({ kind: "done", note: evil }, PIPE),
    renderFailure(new Error(evil), PIPE),
  ];
  for (const text of shown) {
    expect(text).toContain("a\\x1b]0;title\\x07\\x9b\\u202eb");
    expect(text).toMatch(/^[\n\t\u0020-\u007e]*$/);
  }
});
