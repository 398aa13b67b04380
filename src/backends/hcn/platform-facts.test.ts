import { expect, test } from "vitest";
import type { ModelObject } from "../../core/model/object.ts";
import { FakeHcn } from "../../platform/windows/fake.ts";
import { parseLoadBalancer, renderLoadBalancer } from "../../platform/windows/load-balancer.ts";
import { createHcnBackend } from "./hcn-backend.ts";
import {
  endpoint,
  Feed,
  NETWORK_ID,
  networkJson,
  optionsOf,
  service,
  TestWorld,
  testContext,
} from "./hcn-rig.fixture.ts";

async function balancersFor(...objects: readonly ModelObject[]): Promise<readonly object[]> {
  const fake = new FakeHcn();
  fake.seed("Network", NETWORK_ID, networkJson());
  const backend = await createHcnBackend(optionsOf(), testContext(), new TestWorld(fake));
  await new Feed(backend.sink).apply(...objects);
  return [...fake.all("LoadBalancer").values()].map((json) => JSON.parse(json));
}

test("a load balancer takes no endpoint that HNS does not have", async () => {
  const fake = new FakeHcn();
  const settings = {
    HostComputeEndpoints: ["0f5f6e1c-0f5e-4d5c-9f0a-2b7e8f9d1c22"],
    PortMappings: [{ Protocol: 6 }],
  };
  await expect(fake.create("LoadBalancer", "a", JSON.stringify(settings))).rejects.toThrow(
    "0x803b0002",
  );
  await expect(fake.create("LoadBalancer", "a", "{}")).rejects.toThrow("0x80070057");
});

test("a load balancer has no field for weights, time-outs or who may call", async () => {
  const web = service("web", {
    loadBalancerIPs: ["203.0.113.1"],
    sourceRanges: ["192.0.2.0/24"],
    affinitySeconds: 9,
  });
  const pods = [endpoint("web", "10.1.2.1", { weight: 3 }), endpoint("web", "10.1.2.2")];
  for (const balancer of await balancersFor(web, ...pods)) {
    expect(Object.keys(balancer).sort()).toEqual([
      "FrontendVIPs",
      "HostComputeEndpoints",
      "ID",
      "PortMappings",
      "SchemaVersion",
    ]);
  }
});

test("a node port has one load balancer, without an address", async () => {
  const web = service("web", {
    clusterIPs: [],
    ports: [{ port: 80, nodePort: 30080, targetPort: 1 }],
  });
  const balancers = await balancersFor(web, endpoint("web", "10.1.2.1"));
  expect(balancers).toHaveLength(1);
  expect(balancers[0]).not.toHaveProperty("FrontendVIPs");
});

test("whether sources are kept is said for a load balancer, not for a client", () => {
  const balancer = (flags: number) =>
    parseLoadBalancer(
      JSON.stringify({ ID: NETWORK_ID, Flags: flags, PortMappings: [{ Protocol: 6 }] }),
    );
  expect([balancer(0).isDsr, balancer(1).isDsr]).toEqual([false, true]);
  const fields = { ...balancer(1), frontendVips: ["10.96.0.1"], endpoints: [NETWORK_ID] };
  expect(Object.keys(JSON.parse(renderLoadBalancer(fields))).sort()).toEqual([
    "Flags",
    "FrontendVIPs",
    "HostComputeEndpoints",
    "ID",
    "PortMappings",
    "SchemaVersion",
  ]);
});
