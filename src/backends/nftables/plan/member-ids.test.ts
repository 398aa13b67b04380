import { expect, test } from "vitest";
import { memberIds } from "./member-ids.ts";

test("two targets of which the hashes agree have numbers of their own, in whatever order they come", () => {
  const targets = ["10.1.70.102 . 8080", "10.3.71.36 . 8080"];
  const ids = memberIds(targets);
  const [first = "", second = ""] = targets.map((target) => ids.get(target));
  expect(second).not.toBe(first);
  expect(second.split(":")[0]).toBe(first.split(":")[0]);
  expect(memberIds(targets.toReversed())).toEqual(ids);
});
