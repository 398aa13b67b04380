import { expect, test } from "vitest";
import { MAX_WAIT_MS, ParkedPackets } from "./parked-packets.ts";

const LARGE = new Uint8Array(65_536);

test("packets wait in order, each in a copy, and not more than there is room for", () => {
  const parked = new ParkedPackets();
  const packet = Uint8Array.of(1);
  parked.park("a", packet, 0);
  packet[0] = 2;
  for (let count = 0; count < 20; count += 1) parked.park("a", packet, 0);
  expect(parked.take("a").map(([first]) => first)).toEqual([1, ...new Array(15).fill(2)]);
  expect([parked.take("a").length, parked.dropped]).toEqual([0, 5]);
  for (let key = 0; key < 40; key += 1) parked.park(String(key), LARGE, 0);
  expect(parked.dropped).toBe(5 + 8);
  parked.drop("0");
  expect(parked.dropped).toBe(5 + 8 + 1);
});

test("what waits for one that never answers makes room for what others wait for", () => {
  const parked = new ParkedPackets();
  for (const peer of ["a", "b"]) {
    for (let index = 0; index < 16; index += 1) parked.park(peer, LARGE, 0);
  }
  parked.park("c", LARGE, MAX_WAIT_MS - 1);
  parked.expire(MAX_WAIT_MS - 1);
  expect(parked.take("c")).toEqual([]);
  parked.expire(MAX_WAIT_MS);
  parked.park("c", LARGE, MAX_WAIT_MS);
  parked.expire(MAX_WAIT_MS);
  expect(parked.dropped).toBe(33);
  expect(parked.take("c")).toHaveLength(1);
  expect(parked.take("a")).toEqual([]);
});
