import { describe, expect, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { systemExec } from "../../platform/linux/exec.ts";
import { NetworkNamespace } from "../../platform/linux/network-namespace.ts";
import { createNft } from "../../platform/linux/nft/nft.ts";
import { previewNftables } from "./preview.ts";
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

test("is the whole text of a first transaction", async () => {
  const text = await previewNftables(optionsOf(), NODE_NAME, opsOf(STATE));
  expect(text).toContain('203.0.113.2 . tcp . 80 comment "default/web" : goto allowed-external-');
  expect(text).toContain("add element ip portolan allowed { 203.0.113.2 . tcp . 80 . 192.0.2.0/24");
  expect(text).toContain("add table ip6 portolan");
});

test("a wrong option is refused", async () => {
  const options = optionsOf({ podInterfaceNamePrefix: 'veth" drop' });
  await expect(previewNftables(options, NODE_NAME, [])).rejects.toMatchObject({
    code: "ERR_USAGE",
    message: expect.stringContaining('--pod-interface-name-prefix: "veth" drop" is not valid'),
  });
});

describe("the kernel", requires("linux", "root", "nft"), () => {
  test("takes it as it is, and nothing is there afterwards", async () => {
    const namespace = NetworkNamespace.create();
    const nft = createNft({ run: (...call) => namespace.run(() => systemExec.run(...call)) });
    try {
      await nft.check(await previewNftables(optionsOf(), NODE_NAME, opsOf(STATE)));
      expect(await nft.list({ family: "ip", name: "portolan" })).toBeUndefined();
    } finally {
      namespace.close();
    }
  });
});
