import { expect, test } from "vitest";
import { TicketRatchet } from "./ticket-ratchet.ts";

const HOUR_MS = 3_600_000;
const START_MS = 1000 * 12 * HOUR_MS;

const keyOf = (ratchet: TicketRatchet, atMs: number) =>
  Buffer.from(ratchet.keyAt(atMs)).toString("hex");

test("has a key of 80 bytes for twelve hours, then another one", () => {
  const ratchet = TicketRatchet.create(START_MS);
  const first = keyOf(ratchet, START_MS);
  expect(first).toHaveLength(160);
  expect(keyOf(ratchet, START_MS + 11 * HOUR_MS)).toBe(first);
  const second = keyOf(ratchet, START_MS + 12 * HOUR_MS);
  expect(second).not.toBe(first);
  expect(keyOf(ratchet, START_MS + 24 * HOUR_MS)).not.toBe(second);
});

test("whoever gets a seed later has the same keys from then on", () => {
  const ratchet = TicketRatchet.create(START_MS);
  const early = new TicketRatchet(ratchet.seedAt(START_MS));
  const late = new TicketRatchet(ratchet.seedAt(START_MS + 30 * HOUR_MS));
  const atMs = START_MS + 50 * HOUR_MS;
  expect(keyOf(late, atMs)).toBe(keyOf(early, atMs));
  expect(late.epochAt(atMs)).toBe(early.epochAt(atMs));
});

test("what is over can not be had from a later seed, nor by turning the clock back", () => {
  const ratchet = TicketRatchet.create(START_MS);
  const over = keyOf(ratchet, START_MS);
  const later = ratchet.seedAt(START_MS + 13 * HOUR_MS);
  expect(keyOf(new TicketRatchet(later), START_MS)).not.toBe(over);
  expect(keyOf(ratchet, START_MS)).not.toBe(over);
});

test("two of them share nothing", () => {
  expect(keyOf(TicketRatchet.create(START_MS), START_MS)).not.toBe(
    keyOf(TicketRatchet.create(START_MS), START_MS),
  );
});
