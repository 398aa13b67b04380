import fc from "fast-check";
import { expect, test } from "vitest";
import { cidrContains, familyOf, parseCidr } from "../../core/model/address.ts";
import { wordsOfIp } from "../../wire/ip/address-words.ts";
import { PrefixMap } from "./prefix-map.ts";

const NETWORK = fc.oneof(
  fc
    .tuple(fc.constantFrom("10.18.0.0", "10.18.0.64", "10.18.1.0", "10.200.0.7"), fc.nat(32))
    .map(([ip, prefix]) => `${ip}/${prefix}`),
  fc
    .tuple(fc.constantFrom("fc00::", "fc00::100", "fdff:2000::1"), fc.nat(128))
    .map(([ip, prefix]) => `${ip}/${prefix}`),
);
const IPS = ["10.18.0.1", "10.18.0.65", "10.18.1.200", "9.0.0.1", "fc00::5", "fc00::101", "::1"];

test("the longest network that holds an address decides", () => {
  fc.assert(
    fc.property(fc.uniqueArray(NETWORK, { maxLength: 12 }), (texts) => {
      const networks = [...new Set(texts.map((text) => parseCidr(text)?.text ?? ""))];
      const map = new PrefixMap<string>();
      for (const network of networks) map.add(network, network);
      for (const ip of IPS) expect(map.findWords(wordsOfIp(ip))).toBe(longest(networks, ip));
      const [gone, ...left] = networks;
      if (gone === undefined) return;
      map.delete(gone, gone);
      map.delete(gone, gone);
      for (const ip of IPS) expect(map.findWords(wordsOfIp(ip))).toBe(longest(left, ip));
    }),
  );
});

test("a network has one value", () => {
  const map = new PrefixMap<string>();
  map.add("10.18.0.5/26", "a");
  map.add("10.18.0.0/26", "a");
  expect(() => map.add("10.18.0.0/26", "b")).toThrow("somebody else has it already");
  expect(() => map.add("10.18.0.0/33", "b")).toThrow('network: "10.18.0.0/33" is none');
});

test("who had a network before can not take it from who has it now", () => {
  const map = new PrefixMap<string>();
  map.add("10.18.0.0/26", "a");
  map.delete("10.18.0.0/26", "a");
  map.add("10.18.0.0/26", "b");
  map.delete("10.18.0.0/26", "a");
  expect(map.findWords(wordsOfIp("10.18.0.1"))).toBe("b");
});

function longest(networks: readonly string[], ip: string): string | undefined {
  return networks
    .flatMap((text) => parseCidr(text) ?? [])
    .filter((cidr) => cidr.family === familyOf(ip) && cidrContains(cidr, ip))
    .sort((a, b) => b.prefix - a.prefix)[0]?.text;
}
