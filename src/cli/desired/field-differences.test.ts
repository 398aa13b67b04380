import { expect, test } from "vitest";
import { fieldDifferences } from "./field-differences.ts";

test("nothing where both say the same, also where one leaves out what is not there", () => {
  expect(fieldDifferences({ a: 1, b: [1, { c: 2 }] }, { a: 1, b: [1, { c: 2 }] })).toEqual([]);
  expect(fieldDifferences({ a: 1, tls: undefined }, { a: 1 })).toEqual([]);
});

test("the innermost fields, with their paths", () => {
  const before = { weight: 1, check: { up: 2, down: 3 }, labels: { old: "x" } };
  const after = { weight: 3, check: { up: 2, down: 5 }, labels: { new: "y" } };
  expect(fieldDifferences(before, after)).toEqual([
    { path: ["weight"], before: 1, after: 3 },
    { path: ["check", "down"], before: 3, after: 5 },
    { path: ["labels", "old"], before: "x", after: undefined },
    { path: ["labels", "new"], before: undefined, after: "y" },
  ]);
});

test("entries with names are compared by name, wherever they stand", () => {
  const http = { name: "http", port: 80 };
  const before = { ports: [http, { name: "admin", port: 81 }] };
  expect(fieldDifferences(before, { ports: [{ name: "admin", port: 82 }, http] })).toEqual([
    { path: ["ports", "admin", "port"], before: 81, after: 82 },
  ]);
  expect(fieldDifferences(before, { ports: [http] })).toEqual([
    { path: ["ports", "admin"], before: { name: "admin", port: 81 }, after: undefined },
  ]);
  expect(fieldDifferences(before, { ports: before.ports.toReversed() })).toEqual([
    { path: ["ports"], before: ["http", "admin"], after: ["admin", "http"] },
  ]);
});

test("entries without names are compared by place, or the lists are shown whole", () => {
  expect(fieldDifferences([{ port: 1 }], [{ port: 2 }])).toEqual([
    { path: [0, "port"], before: 1, after: 2 },
  ]);
  expect(fieldDifferences({ ips: ["a", "b"] }, { ips: ["a"] })).toEqual([
    { path: ["ips"], before: ["a", "b"], after: ["a"] },
  ]);
  expect(fieldDifferences([{ name: "" }], [{ name: "" }, { name: "" }])).toHaveLength(1);
});
