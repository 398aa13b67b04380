import { expect, test } from "vitest";
import { FLOOD_PACKETS, FloodGuard } from "./flood-guard.ts";

test("a flood is held, for longer each time that it goes on, and anew after a pause", () => {
  const guard = new FloodGuard();
  const look = (packets: number, nowMs: number) => {
    guard.noteSent(packets);
    guard.look(nowMs);
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
