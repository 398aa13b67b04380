import { expect, test } from "vitest";
import { readLinksBeneath } from "./read-links-beneath.ts";

async function beneath(links: readonly object[]): Promise<Record<string, readonly string[]>> {
  const stdout = JSON.stringify(links);
  const found = await readLinksBeneath({
    run: async () => ({ exitCode: 0, stdout, stderr: "" }),
  });
  return Object.fromEntries([...found].map(([link, all]) => [link, [...all].sort()]));
}

test("the ports of bridges, what VLANs are on, and what those stand on", async () => {
  const links = [
    { ifname: "lo" },
    { ifname: "br0", linkinfo: { info_kind: "bridge" } },
    { ifname: "eth0", master: "br0" },
    { ifname: "vlan7", link: "br0", linkinfo: { info_kind: "vlan" } },
    { ifname: "veth1", link: "veth2", linkinfo: { info_kind: "veth" } },
    { ifname: "veth2", link: "veth1", master: "br0", linkinfo: { info_kind: "veth" } },
  ];
  expect(await beneath(links)).toEqual({
    br0: ["eth0", "veth2"],
    vlan7: ["br0", "eth0", "veth2"],
  });
});
