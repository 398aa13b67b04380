import { describe, expect, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { CoreError } from "../../core/errors.ts";
import type { ModelObject } from "../../core/model/object.ts";
import { systemExec } from "../../platform/linux/exec.ts";
import { NetworkNamespace } from "../../platform/linux/network-namespace.ts";
import { createNft } from "../../platform/linux/nft/nft.ts";
import { openNftElements } from "../../platform/linux/nft/nft-elements.ts";
import { NO_ONLOOKER, NO_PROSPECT } from "../no-fast-world.fixture.ts";
import { type PreviewWorld, previewNftables } from "./preview.ts";
import { endpoint, NODE, NODE_NAME, opsOf, optionsOf, service } from "./samples.fixture.ts";

const STATE = [
  NODE,
  service({
    externalIPs: ["203.0.113.1", "2001:db8::1"],
    loadBalancerIPs: ["203.0.113.2"],
    sourceRanges: ["192.0.2.0/24"],
    affinitySeconds: 600,
    externalTrafficPolicy: "Local",
  }),
  endpoint(1, { addresses: ["10.1.0.1", "fd00:1::1"], node: NODE_NAME }),
  endpoint(2, { weight: 3 }),
];

const NO_TABLES: PreviewWorld = {
  nft: {
    list: async () => undefined,
    outline: async () => undefined,
    listElements: async () => [],
    check: async () => undefined,
  },
  elements: { list: async () => undefined },
  sysctl: { read: async () => "0" },
  probeDirect: async () => undefined,
  probeFast: async () => NO_PROSPECT,
  findOnlooker: NO_ONLOOKER,
};

test("where no table is, it is the whole text of a first transaction", async () => {
  const { script: text, unread } = await preview(STATE);
  expect(unread).toBeUndefined();
  expect(text).toContain('203.0.113.2 . tcp . 80 comment "default/web" : goto allowed-external-');
  expect(text).toContain("add element ip portolan allowed { 203.0.113.2 . tcp . 80 . 192.0.2.0/24");
  expect(text).toContain("add table ip6 portolan");
});

test("where tables can not be read, it is the same, and why is said", async () => {
  const list = async () => {
    throw new CoreError("ERR_PROGRAM_FAILED", "nft: Operation not permitted");
  };
  const { script, unread } = await preview(STATE, {
    ...NO_TABLES,
    nft: { ...NO_TABLES.nft, list },
  });
  expect(unread).toBe("nft: Operation not permitted");
  expect(script).toBe((await preview(STATE)).script);
});

test.each([
  ["0", true],
  ["1", false],
])("where loopback is served and route_localnet is %s, that is told: %s", async (value, isTold) => {
  const options = optionsOf({ nodeportAddresses: "localhost" });
  const world = { ...NO_TABLES, sysctl: { read: async () => value } };
  const { script } = await previewNftables(options, NODE_NAME, opsOf(STATE), world);
  expect(script.startsWith("# sysctl -w net.ipv4.conf.all.route_localnet=1\n")).toBe(isTold);
});

test("a wrong option is refused", async () => {
  const options = optionsOf({ podInterfaceNamePrefix: 'veth" drop' });
  await expect(previewNftables(options, NODE_NAME, [], NO_TABLES)).rejects.toMatchObject({
    code: "ERR_USAGE",
    message: expect.stringContaining('--pod-interface-name-prefix: "veth" drop" is not valid'),
  });
});

function preview(objects: readonly ModelObject[], world = NO_TABLES) {
  return previewNftables(optionsOf(), NODE_NAME, opsOf(objects), world);
}

describe("the kernel", requires("linux", "root", "nft"), () => {
  test("takes it as it is; then there is nothing to do, and after a change just that", async () => {
    const namespace = NetworkNamespace.create();
    const nft = createNft({ run: (...call) => namespace.run(() => systemExec.run(...call)) });
    const elements = namespace.run(openNftElements);
    try {
      const world = { ...NO_TABLES, nft, elements };
      const first = await preview(STATE, world);
      await nft.check(first.script);
      expect(await nft.list({ family: "ip", name: "portolan" })).toBeUndefined();
      await nft.run(first.script);
      expect(await preview(STATE, world)).toEqual({
        script: "",
        further: ["would have no fast path: rules are tested; none"],
      });
      const changed = await preview([...STATE, endpoint(3)], world);
      expect(changed.script).toContain("10.1.0.3 . 8080");
      expect(changed.script).not.toContain("table");
      await nft.run(changed.script);
      expect(await preview([...STATE, endpoint(3)], world)).toEqual({
        script: "",
        further: ["would have no fast path: rules are tested; none"],
      });
    } finally {
      elements.close();
      namespace.close();
    }
  });

  test.each([
    { iptablesMasqueradeBit: 0 },
    { iptablesMasqueradeBit: 30 },
    { iptablesMasqueradeBit: 31 },
    { clusterCidr: "10.1.0.0/16,10.2.0.0/16,fd00:2::/64,fd00:2:0:1::/64" },
    { clusterCidr: "10.1.0.0/16,10.0.0.0/16,192.0.2.0/24,192.0.2.7,::/1,8000::/1" },
  ])("lists what is written as it was written: %j", async (flags) => {
    const namespace = NetworkNamespace.create();
    const nft = createNft({ run: (...call) => namespace.run(() => systemExec.run(...call)) });
    const elements = namespace.run(openNftElements);
    try {
      const world = { ...NO_TABLES, nft, elements };
      const plan = () => previewNftables(optionsOf(flags), NODE_NAME, opsOf(STATE), world);
      const { script } = await plan();
      expect(script).not.toBe("");
      await nft.run(script);
      expect((await plan()).script).toBe("");
    } finally {
      elements.close();
      namespace.close();
    }
  });

  test("a table that others made dormant is written, as a sync would", async () => {
    const namespace = NetworkNamespace.create();
    const nft = createNft({ run: (...call) => namespace.run(() => systemExec.run(...call)) });
    const elements = namespace.run(openNftElements);
    try {
      const world = { ...NO_TABLES, nft, elements };
      await nft.run((await preview(STATE, world)).script);
      await nft.run("add table ip portolan { flags dormant ; }\n");
      const { script } = await preview(STATE, world);
      expect(script).toContain("add table ip portolan { comment");
      await nft.run(script);
      expect((await preview(STATE, world)).script).toBe("");
    } finally {
      elements.close();
      namespace.close();
    }
  });

  test("a table of the same name and another kind is made anew, as a sync would", async () => {
    const namespace = NetworkNamespace.create();
    const nft = createNft({ run: (...call) => namespace.run(() => systemExec.run(...call)) });
    const elements = namespace.run(openNftElements);
    try {
      await nft.run("add table ip portolan\nadd set ip portolan services { type ipv4_addr ; }\n");
      const { script } = await preview(STATE, { ...NO_TABLES, nft, elements });
      expect(script).toContain("delete table ip portolan\n");
      await nft.run(script);
    } finally {
      elements.close();
      namespace.close();
    }
  });
});
