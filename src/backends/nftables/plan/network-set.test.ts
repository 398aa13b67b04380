import fc from "fast-check";
import { expect, test } from "vitest";
import { cidrContains, parseCidr } from "../../../core/model/address.ts";
import { networkSet, outermostNetworks } from "./network-set.ts";

test.each([
  [
    ["10.0.0.0/8", "10.1.0.0/16", "10.1.2.3", "11.0.0.0/8"],
    ["10.0.0.0/8", "11.0.0.0/8"],
  ],
  [["192.0.2.7/32", "192.0.2.0/24", "192.0.2.0/24"], ["192.0.2.0/24"]],
  [
    ["192.0.2.9", "192.0.2.10/32", "9.9.9.9"],
    ["9.9.9.9", "192.0.2.9", "192.0.2.10"],
  ],
  [["10.0.0.0/16", "10.0.0.0/8"], ["10.0.0.0/8"]],
  [
    ["fd00:1::/32", "fd00::/16", "2001:db8::1"],
    ["2001:db8::1", "fd00::/16"],
  ],
  [["10.1.2.3/8"], ["10.0.0.0/8"]],
  [["0.0.0.0/0", "1.2.3.4"], ["0.0.0.0/0"]],
])("%j are %j", (networks, outermost) => {
  expect(outermostNetworks(networks)).toEqual(outermost);
});

test("in a rule one stands for itself, several in braces", () => {
  expect(networkSet(["10.0.0.0/8", "10.0.0.1"])).toBe("10.0.0.0/8");
  expect(networkSet(["10.0.0.2", "10.0.0.1"])).toBe("{ 10.0.0.1, 10.0.0.2 }");
});

const NETWORK = fc
  .tuple(
    fc.integer({ min: 0, max: 3 }),
    fc.integer({ min: 0, max: 255 }),
    fc.constantFrom(6, 8, 9, 16, 30, 32),
  )
  .map(([first, last, prefix]) => `${first}.0.0.${last}/${prefix}`);

test("each network is held by exactly one of them, and none by another", () => {
  fc.assert(
    fc.property(fc.array(NETWORK), (networks) => {
      const outermost = outermostNetworks(networks).map((text) => parseCidr(text));
      for (const network of networks) {
        const [ip = ""] = parseCidr(network)?.text.split("/") ?? [];
        expect(outermost.filter((cidr) => cidr && cidrContains(cidr, ip))).toHaveLength(1);
      }
    }),
  );
});
