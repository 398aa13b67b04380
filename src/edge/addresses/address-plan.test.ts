import fc from "fast-check";
import { expect, test } from "vitest";
import type { Cidr } from "../../core/model/address.ts";
import { AddressPlan } from "./address-plan.ts";
import { deriveV6, overlaps, parseSubnet, placeOf } from "./subnet.ts";

function cidr(text: string): Cidr {
  const parsed = parseSubnet(text);
  if (parsed === undefined) throw new Error(`${text} is no network`);
  return parsed;
}

const plan = (v4 = "10.18.0.64", v6 = "fc00::100") =>
  new AddressPlan({ v4: cidr(v4), v6: cidr(v6) });

test("a subnetwork without a prefix is a /26, and a /120 for IPv6", () => {
  expect(cidr("10.18.0.64").text).toBe("10.18.0.64/26");
  expect(cidr("fc00::100").text).toBe("fc00::100/120");
  expect(cidr("10.18.4.0/22").text).toBe("10.18.4.0/22");
  expect(["", "10.18.0", "10.18.0.0/33", "x/26"].map(parseSubnet)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test("the bridge has the first address, a /26 has room for 61 workloads, and no more", () => {
  const small = plan();
  expect(small.bridge).toEqual({ v4: "10.18.0.65", v6: "fc00::101" });
  const given = Array.from({ length: 61 }, () => small.allocate());
  expect(given[0]).toEqual({ v4: "10.18.0.66", v6: "fc00::102" });
  expect(given.at(-1)).toEqual({ v4: "10.18.0.126", v6: "fc00::13e" });
  expect(new Set(given.map(({ v4 }) => v4)).size).toBe(61);
  expect(() => small.allocate()).toThrow(/all 61 addresses of 10\.18\.0\.64\/26 are in use/);
});

test("an address that is free again is used again, after the others", () => {
  const small = plan("10.18.0.64/29");
  const [first, second] = [small.allocate(), small.allocate()];
  small.free(first);
  expect(small.allocate().v4).toBe("10.18.0.68");
  small.free(second);
  small.free(second);
  expect([small.allocate(), small.allocate(), small.allocate()].map(({ v4 }) => v4)).toEqual([
    "10.18.0.69",
    "10.18.0.70",
    "10.18.0.66",
  ]);
});

test("addresses of workloads that run are taken, those of others are not to be had", () => {
  const restored = plan();
  const pair = { v4: "10.18.0.70", v6: "fc00::106" };
  expect(restored.take(pair)).toBe(true);
  expect(restored.take(pair)).toBe(false);
  expect(restored.take({ v4: "10.18.0.71", v6: "fc00::108" })).toBe(false);
  expect(restored.take({ v4: "10.18.0.65", v6: "fc00::101" })).toBe(false);
  expect(restored.take({ v4: "10.18.0.127", v6: "fc00::13f" })).toBe(false);
  expect(restored.take({ v4: "10.99.0.2", v6: "fc00::102" })).toBe(false);
  expect(restored.used).toBe(1);
});

test("each IPv4 network has an IPv6 network of its own", () => {
  expect(deriveV6(cidr("10.18.0.64")).text).toBe("fdfe::a:1200:4000/120");
  const networks = fc.tuple(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 16, max: 30 }));
  fc.assert(
    fc.property(networks, networks, ([a, lengthA], [b, lengthB]) => {
      const networkOf = (value: number, length: number) =>
        cidr(`10.${value >> 8}.${value & 0xff}.0/${length}`);
      const [first, second] = [networkOf(a, lengthA), networkOf(b, lengthB)];
      if (!overlaps(first, second)) expect(overlaps(deriveV6(first), deriveV6(second))).toBe(false);
    }),
  );
});

test("nobody ever has an address that another one has", () => {
  const steps = fc.array(fc.nat({ max: 20 }), { maxLength: 200 });
  fc.assert(
    fc.property(steps, (turns) => {
      const book = plan("10.18.0.0/28");
      const held: { v4: string; v6: string }[] = [];
      for (const turn of turns) {
        const goes = held.splice(turn, 1)[0];
        if (goes !== undefined) book.free(goes);
        else if (book.used < book.capacity) held.push(book.allocate());
        expect(new Set(held.map(({ v4 }) => v4)).size).toBe(held.length);
        for (const { v4, v6 } of held) {
          expect(placeOf(book.subnets.v4, v4)).toBe(placeOf(book.subnets.v6, v6));
        }
      }
      expect(book.used).toBe(held.length);
    }),
  );
});
