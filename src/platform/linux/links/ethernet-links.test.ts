import { expect, test } from "vitest";
import type { ListedLink } from "../../../wire/netlink/route/pair-codec.ts";
import { plainEthernetLinks } from "./ethernet-links.ts";

function listed(link: number, name: string, not: Partial<ListedLink> = {}): ListedLink {
  const common = { isUp: true, isEthernet: true, kind: "", mtu: 1500, master: 0 };
  return { link, name, mac: new Uint8Array(6), ...common, ...not };
}

test("a plain link is up, of Ethernet, no port, no tunnel, and without a place for programs of others", async () => {
  const links = [
    listed(1, "lo", { isEthernet: false, mtu: 65_536 }),
    listed(2, "eth0"),
    listed(3, "eth1", { isUp: false }),
    listed(4, "eth0.7", { kind: "vlan", mtu: 1420 }),
    listed(5, "br0", { kind: "bridge" }),
    listed(6, "port0", { kind: "veth", master: 5 }),
    listed(7, "filtered0"),
    listed(8, "filtered1"),
    listed(9, "kube-ipvs0", { kind: "dummy" }),
    listed(10, "vxlan0", { kind: "vxlan" }),
  ];
  const qdiscs = [
    { link: 2, kind: "fq_codel" },
    { link: 7, kind: "fq_codel" },
    { link: 7, kind: "clsact" },
    { link: 8, kind: "ingress" },
  ];
  const table = { list: async () => links, qdiscs: async () => qdiscs };
  expect(await plainEthernetLinks(table)).toEqual([
    { link: 2, name: "eth0", mtu: 1500 },
    { link: 4, name: "eth0.7", mtu: 1420 },
    { link: 5, name: "br0", mtu: 1500 },
  ]);
});
