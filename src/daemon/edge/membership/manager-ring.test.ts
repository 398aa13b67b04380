import { expect, test } from "vitest";
import { formatListenAddress } from "../../../core/options/listen-address.ts";
import { ManagerRing } from "./manager-ring.ts";

const at = (port: number) => ({ kind: "tcp", host: "m", port }) as const;

function ringOf(told: readonly string[] = [], random = () => 0): ManagerRing {
  return new ManagerRing([at(1), at(2)], told, random);
}

test("the first one that people said is asked for as long as it answers", () => {
  const ring = ringOf(["m:3"]);
  expect([ring.current, ring.size]).toEqual([at(1), 3]);
  ring.answered();
  expect(ring.current).toEqual(at(1));
});

test("where one fails all others are asked before it is asked again", () => {
  const ring = ringOf(["m:3", "m:4"], () => 0.99);
  const asked = Array.from({ length: 8 }, () => {
    const { current } = ring;
    ring.failed(current);
    return formatListenAddress(current);
  });
  expect(asked[0]).toBe("m:1");
  expect(new Set(asked.slice(0, 4)).size).toBe(4);
  expect(new Set(asked.slice(4)).size).toBeGreaterThan(2);
});

test("one that somebody else found to fail already is not left for a second time", () => {
  const ring = ringOf();
  const { current } = ring;
  ring.failed(current);
  const next = ring.current;
  expect(next).toEqual(at(2));
  ring.failed(current);
  expect(ring.current).toBe(next);
});

test("the only one is asked again and again", () => {
  const ring = new ManagerRing([at(1)], [], () => 0);
  ring.failed(ring.current);
  expect(ring.current).toEqual(at(1));
});

test("managers that were told of once stay known, the latest first, and not without end", () => {
  const ring = ringOf();
  expect(ring.learn(["m:3"])).toBe(true);
  expect(ring.learn(["m:3"])).toBe(false);
  expect(ring.learn(["m:4", "nothing", "unix:/x"])).toBe(true);
  expect(ring.told).toEqual(["m:4", "m:3"]);
  ring.learn(Array.from({ length: 40 }, (_, port) => `m:${port + 100}`));
  expect([ring.told.length, ring.size]).toEqual([16, 18]);
  const { current } = ring;
  ring.learn(["m:1"]);
  expect(ring.current).toBe(current);
});
