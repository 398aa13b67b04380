import { expect, test } from "vitest";
import { SessionShelf } from "./session-shelf.ts";

function open(maxSessions?: number) {
  const freed: number[] = [];
  const shelf = new SessionShelf({ sessionFree: (session) => freed.push(session) }, maxSessions);
  return { shelf, freed };
}

test("the last session with a server is kept, and the one before is freed", () => {
  const { shelf, freed } = open();
  expect(shelf.find("a")).toBe(0);
  shelf.put("a", 1);
  shelf.put("b", 2);
  shelf.put("a", 3);
  shelf.put("a", 0);
  expect([shelf.find("a"), shelf.find("b")]).toEqual([3, 2]);
  expect(freed).toEqual([1]);
  shelf.drop("a");
  shelf.drop("a");
  expect(shelf.find("a")).toBe(0);
  expect(freed).toEqual([1, 3]);
});

test("beyond its limit the oldest goes", () => {
  const { shelf, freed } = open(2);
  shelf.put("a", 1);
  shelf.put("b", 2);
  shelf.put("a", 3);
  shelf.put("c", 4);
  expect(["a", "b", "c"].map((server) => shelf.find(server))).toEqual([3, 0, 4]);
  expect(freed).toEqual([1, 2]);
});

test("when it is closed all are freed, also those that come later", () => {
  const { shelf, freed } = open();
  shelf.put("a", 1);
  shelf.close();
  shelf.put("b", 2);
  expect(shelf.find("b")).toBe(0);
  expect(freed).toEqual([1, 2]);
});
