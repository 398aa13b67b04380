import { expect, test } from "vitest";
import { addressHash, flowHash } from "./flow-hash.ts";

const COUNT = 20_000;
const BUCKETS = 2 ** 20;
const SEED = 0x1234_5678;

type Words = readonly [w0: number, w1: number, w2: number, w3: number];

/** What a workload of a large network can choose its sources by. */
const CHOICES: readonly (readonly [name: string, wordsOf: (index: number) => Words])[] = [
  ["the first word", (index) => [index, 0, 0, 1]],
  ["the second", (index) => [0xfd00_0000, index, 0, 1]],
  ["the third", (index) => [0xfd00_0000, 0, index, 1]],
  ["the last", (index) => [0xfd00_0000, 0, 0, index]],
  ["the last two, which are the same", (index) => [0xfd00_0000, 0, index, index]],
  ["the last two by what they were multiplied with", (index) => [0, 0, index, Math.imul(index, 3)]],
];

function bucketsOf(hashOf: (index: number) => number): number {
  const all = Array.from({ length: COUNT }, (_, index) => hashOf(index) & (BUCKETS - 1));
  return new Set(all).size;
}

/** Of 20,000 that fall at random 19,811 are in buckets of their own, on average. */
const MANY = 19_500;

test.each(CHOICES)("flows of clients that differ in %s fall apart, both ways", (_name, wordsOf) => {
  const ports = (40_000 << 16) | 80;
  const service = addressHash(SEED, true, 0xfdff_2000, 0, 0, 1);
  const clientOf = (index: number) => addressHash(SEED, true, ...wordsOf(index));
  expect(bucketsOf((index) => flowHash(clientOf(index), service, ports, 6))).toBeGreaterThan(MANY);
  expect(bucketsOf((index) => flowHash(service, clientOf(index), ports, 6))).toBeGreaterThan(MANY);
});

test("flows that differ in ports or addresses of IPv4 fall apart", () => {
  const of = (client: number, ports: number) =>
    flowHash(addressHash(SEED, false, 0, 0, 0, client), 0x0a1e_0001, ports, 17);
  // Ports fill but half of a word: a bit less than at random.
  expect(bucketsOf((index) => of(0x0a12_0002, (index << 16) | 80))).toBeGreaterThan(18_000);
  expect(bucketsOf((index) => of(0x0a12_0000 + index, 80))).toBeGreaterThan(18_000);
});
