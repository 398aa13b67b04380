import { expect, test, vi } from "vitest";
import { ToldList } from "./told-list.ts";

test("what changes is told once, and that all is well is not", () => {
  const warn = vi.fn();
  const list = new ToldList({ warn }, "leftOut", "some are left out");
  for (const lines of [[], ["a"], ["a"], ["a", "b"], [], [], ["a"]]) list.tell(lines);
  expect(warn.mock.calls).toEqual([
    [{ leftOut: ["a"] }, "some are left out"],
    [{ leftOut: ["a", "b"] }, "some are left out"],
    [{ leftOut: ["a"] }, "some are left out"],
  ]);
});
