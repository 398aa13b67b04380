import { expect, test } from "vitest";
import { LazyMap } from "./lazy-map.ts";

test("only what is asked for is read; what is not there is not in it", () => {
  const read: string[] = [];
  const map = new LazyMap(
    () => ["a", "b", "gone"],
    (key) => {
      read.push(key);
      return key === "a" || key === "b" ? key.toUpperCase() : undefined;
    },
  );
  expect([map.get("b"), map.has("gone"), map.get("c")]).toEqual(["B", false, undefined]);
  expect(read).toEqual(["b", "gone", "c"]);
  expect([...map]).toEqual([
    ["a", "A"],
    ["b", "B"],
  ]);
  expect([map.size, [...map.keys()], [...map.values()]]).toEqual([2, ["a", "b"], ["A", "B"]]);
  const seen: string[] = [];
  map.forEach((value, key) => void seen.push(key + value));
  expect(seen).toEqual(["aA", "bB"]);
});
