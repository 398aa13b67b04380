import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { requires } from "../../../../test/support/requires.ts";
import { cidrContains, parseCidr } from "../../../core/model/address.ts";
import { NetworkNamespace } from "../../../platform/linux/network-namespace.ts";
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

test.each([
  [["10.0.0.0/8", "10.0.0.1"], "10.0.0.0/8"],
  [["10.0.0.3", "10.0.0.1"], "{ 10.0.0.1, 10.0.0.3 }"],
  [["10.0.0.2", "10.0.0.1", "10.0.0.3"], "10.0.0.1-10.0.0.3"],
  [["10.1.0.0/16", "10.2.0.0/16", "11.0.0.0/8"], "{ 10.1.0.0-10.2.255.255, 11.0.0.0/8 }"],
  [["10.1.128.0/17", "10.1.0.0/17"], "10.1.0.0/16"],
  [["10.0.0.0/16", "10.1.0.0/16", "10.2.0.0/15"], "10.0.0.0/14"],
  [["0.0.0.0/1", "128.0.0.0/1"], "0.0.0.0/0"],
  [["fd00:2::/64", "fd00:2:0:1::/64", "fd00:3::/64"], "{ fd00:2::/63, fd00:3::/64 }"],
  [["fd00:0:0:1::/64", "fd00:0:0:2::/64"], "fd00:0:0:1::-fd00::2:ffff:ffff:ffff:ffff"],
  [["::/1", "8000::/1"], "::/0"],
])("in a rule %j are %s", (networks, text) => {
  expect(networkSet(networks)).toBe(text);
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

test("in a rule nft lists them as they are spelled here", requires("linux", "root", "nft"), () => {
  const namespace = NetworkNamespace.create();
  onTestFinished(() => namespace.close());
  const nft = (args: readonly string[], input = ""): string =>
    namespace.run(() => execFileSync("nft", args, { input, encoding: "utf8" }));
  const someNetworks = fc.array(NETWORK, { minLength: 1, maxLength: 8 });
  const rules = fc
    .sample(someNetworks, 200)
    .map((networks) => `ip saddr ${networkSet(networks)} accept`);
  const script = rules.map((rule) => `add rule ip t c ${rule}\n`);
  nft(["-f", "-"], ["add table ip t\n", "add chain ip t c\n", ...script].join(""));
  const listed = nft(["list", "chain", "ip", "t", "c"]).split("\n");
  expect(listed.flatMap((line) => (line.includes("saddr") ? [line.trim()] : []))).toEqual(rules);
});
