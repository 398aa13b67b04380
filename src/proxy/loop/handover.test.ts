import { expect, test } from "vitest";
import { Handover } from "./handover.ts";

test("loops take turns, each socket by itself; without loops it is kept", () => {
  const handover = new Handover();
  expect(handover.next("a")).toBeUndefined();
  handover.set("a", ["one", "two", "three"]);
  handover.set("b", ["one"]);
  const turns = Array.from({ length: 6 }, () => handover.next("a"));
  expect([...new Set(turns)].sort()).toEqual(["one", "three", "two"]);
  expect(turns.slice(0, 3)).toEqual(turns.slice(3));
  expect(handover.next("b")).toBe("one");
  handover.set("a", []);
  handover.delete("b");
  expect([handover.next("a"), handover.next("b")]).toEqual([undefined, undefined]);
});

test("a change does not begin the round anew, also where there are fewer", () => {
  const handover = new Handover();
  handover.set("a", ["one", "two", "three"]);
  handover.next("a");
  handover.next("a");
  handover.set("a", ["one", "two"]);
  expect(["one", "two"]).toContain(handover.next("a"));
});
