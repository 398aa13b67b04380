import { expect, test } from "vitest";
import { FLOOD_PACKETS, FloodGuard, QUIET_BYTES } from "./flood-guard.ts";

test("a flood is held, for longer each time that it goes on, and anew after a pause", () => {
  const guard = new FloodGuard();
  let bytes = 0;
  const look = (packets: number, nowMs: number) => {
    bytes += QUIET_BYTES;
    guard.noteSent(packets);
    guard.look(nowMs, bytes);
    return guard.isHeld(nowMs);
  };
  expect([look(FLOOD_PACKETS - 1, 0), look(1, 250)]).toEqual([false, false]);
  expect(look(FLOOD_PACKETS, 500)).toBe(true);
  expect([look(0, 1499), look(0, 1500)]).toEqual([true, false]);
  expect(look(FLOOD_PACKETS, 1750)).toBe(true);
  expect([look(0, 3749), look(0, 3750)]).toEqual([true, false]);
  expect(look(FLOOD_PACKETS, 9000)).toBe(true);
  expect(look(0, 10_000)).toBe(false);
});

test("a flood that has ended is held no longer, and the next one as if there had been none", () => {
  const guard = new FloodGuard();
  const look = (packets: number, nowMs: number, bytes: number) => {
    guard.noteSent(packets);
    guard.look(nowMs, bytes);
    return guard.isHeld(nowMs);
  };
  expect(look(FLOOD_PACKETS, 0, 1_000_000)).toBe(true);
  expect(look(0, 250, 2_000_000)).toBe(true);
  expect(look(0, 500, 2_000_000 + QUIET_BYTES - 1)).toBe(false);
  expect(look(FLOOD_PACKETS, 750, 3_000_000)).toBe(true);
  expect([look(0, 1500, 4_000_000), look(0, 1750, 5_000_000)]).toEqual([true, false]);
});
