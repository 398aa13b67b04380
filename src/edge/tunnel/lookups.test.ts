import { expect, test } from "vitest";
import { Lookups } from "./lookups.ts";
import { ParkedPackets } from "./parked-packets.ts";

test("an address is asked for once; one that nobody has is not asked for again for a while", () => {
  const lookups = new Lookups();
  expect([lookups.note("a", 0), lookups.note("a", 1), lookups.note("b", 1)]).toEqual([
    "ask",
    "wait",
    "ask",
  ]);
  lookups.missed("a", 10);
  expect([lookups.note("a", 11), lookups.note("a", 10_009), lookups.note("a", 10_010)]).toEqual([
    "drop",
    "drop",
    "ask",
  ]);
  lookups.found("a");
  expect(lookups.note("a", 10_011)).toBe("ask");
});

test("an answer that never comes blocks nothing for good", () => {
  const lookups = new Lookups();
  lookups.note("a", 0);
  expect(lookups.expire(4999)).toEqual([]);
  expect(lookups.expire(5000)).toEqual(["a"]);
  expect(lookups.note("a", 5001)).toBe("ask");
});

test("what is remembered is bounded", () => {
  const lookups = new Lookups();
  const asked = Array.from({ length: 5000 }, (_, index) => lookups.note(String(index), 0));
  expect(asked.filter((what) => what === "ask")).toHaveLength(4096);
  for (let index = 0; index < 5000; index += 1) lookups.missed(String(index), 0);
  expect([lookups.note("0", 1), lookups.note("4999", 1)]).toEqual(["ask", "drop"]);
});

test("packets wait in order, each in a copy, and not more than there is room for", () => {
  const parked = new ParkedPackets();
  const packet = Uint8Array.of(1);
  parked.park("a", packet);
  packet[0] = 2;
  for (let count = 0; count < 20; count += 1) parked.park("a", packet);
  expect(parked.take("a").map(([first]) => first)).toEqual([1, ...new Array(15).fill(2)]);
  expect([parked.take("a").length, parked.dropped]).toEqual([0, 5]);
  for (let key = 0; key < 40; key += 1) parked.park(String(key), new Uint8Array(65_536));
  expect(parked.dropped).toBe(5 + 8);
  parked.drop("0");
  expect(parked.dropped).toBe(5 + 8 + 1);
});
