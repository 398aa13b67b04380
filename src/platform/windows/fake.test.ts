import { expect, test } from "vitest";
import { type Endpoint, remoteEndpoint } from "./endpoint.ts";
import { FakeHcn } from "./fake.ts";
import { Hcn } from "./hcn.ts";
import { failureOf } from "./hcn-failure.ts";
import type { LoadBalancer } from "./load-balancer.ts";

const NETWORK = "0f5f6e1c-0f5e-4d5c-9f0a-2b7e8f9d1c11";

function open(version?: ConstructorParameters<typeof FakeHcn>[0]) {
  const fake = new FakeHcn(version);
  fake.seed(
    "Network",
    NETWORK,
    JSON.stringify({
      ID: NETWORK,
      Name: "cbr0",
      Type: "L2Bridge",
      Ipams: [{ Subnets: [{ IpAddressPrefix: "10.1.0.0/24" }] }],
    }),
  );
  return { fake, hcn: new Hcn(fake) };
}

function endpoint(id: string, address: string, more: Partial<Endpoint> = {}): Endpoint {
  const addresses = [{ address, prefixLength: 24 }];
  const base = { id, name: id, networkId: NETWORK, addresses, macAddress: "" };
  return { ...remoteEndpoint(base), ...more };
}

function balancer(id: string, endpoints: readonly string[], more: Partial<LoadBalancer> = {}) {
  return {
    id,
    endpoints,
    sourceVip: "",
    frontendVips: ["10.96.0.1"],
    portMappings: [
      {
        protocol: "TCP",
        internalPort: 8080,
        externalPort: 80,
        distribution: "none",
        flags: [],
        otherFlags: 0,
      },
    ],
    isDsr: false,
    isIpv6: false,
    otherFlags: 0,
    ...more,
  } as const;
}

/** What a call was refused with. */
async function refusal(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return failureOf(error)?.kind ?? "done";
}

test("what was made is found, changed and removed", async () => {
  const { hcn } = open();
  expect((await hcn.findNetwork("cbr0"))?.id).toBe(NETWORK);
  expect(await hcn.findNetwork("other")).toBeUndefined();
  const remote = endpoint("e1", "10.1.9.5");
  await hcn.createEndpoint(remote);
  expect(await hcn.endpoint("e1")).toEqual(remote);
  expect(await hcn.endpointIds()).toEqual(["e1"]);
  await hcn.createLoadBalancer(balancer("b1", ["e1"]));
  const dsr = balancer("b1", ["e1"], { isDsr: true });
  await hcn.modifyLoadBalancer(dsr);
  expect(await hcn.loadBalancer("b1")).toEqual(dsr);
  await hcn.deleteLoadBalancer("b1");
  await hcn.deleteLoadBalancer("b1");
  await hcn.deleteEndpoint("e1");
  expect([await hcn.loadBalancerIds(), await hcn.endpointIds()]).toEqual([[], []]);
});

test("what the real one refuses is refused with its code", async () => {
  const { hcn } = open();
  await hcn.createEndpoint(endpoint("e1", "10.1.9.5"));
  await hcn.createLoadBalancer(balancer("b1", ["e1"]));
  const local = { isRemote: false };
  expect(await refusal(hcn.createEndpoint(endpoint("e1", "10.1.9.6")))).toBe("exists");
  expect(await refusal(hcn.createEndpoint(endpoint("e2", "10.9.0.1", local)))).toBe(
    "invalid-address",
  );
  expect(await refusal(hcn.createEndpoint(endpoint("e2", "10.1.0.9", local)))).toBe("done");
  expect(await refusal(hcn.createEndpoint(endpoint("e3", "fd00::1")))).toBe("invalid-address");
  const elsewhere = endpoint("e4", "10.1.0.9", { networkId: "gone" });
  expect(await refusal(hcn.createEndpoint(elsewhere))).toBe("network-not-found");
  expect(await refusal(hcn.createLoadBalancer(balancer("b2", ["e1"])))).toBe("port-exists");
  const other = { frontendVips: ["10.96.0.2"] };
  expect(await refusal(hcn.createLoadBalancer(balancer("b2", ["e9"], other)))).toBe(
    "endpoint-not-found",
  );
  expect(await refusal(hcn.createLoadBalancer(balancer("b2", [], other)))).toBe("invalid");
  expect(await refusal(hcn.modifyLoadBalancer(balancer("b2", ["e1"], other)))).toBe("not-found");
  await hcn.deleteLoadBalancer("b1");
  expect(await refusal(hcn.createLoadBalancer(balancer("b2", ["e1"])))).toBe("done");
});

test("an old one does not change load balancers in place, and one that is down says so", async () => {
  const { fake, hcn } = open({ major: 15, minor: 4 });
  await hcn.createEndpoint(endpoint("e1", "10.1.9.5"));
  await hcn.createLoadBalancer(balancer("b1", ["e1"]));
  expect(await refusal(hcn.modifyLoadBalancer(balancer("b1", ["e1"])))).toBe("unsupported");
  fake.isRunning = false;
  expect(await refusal(hcn.version())).toBe("service-down");
});

test("who watches hears of networks that go, and their endpoints go with them", async () => {
  const { fake, hcn } = open();
  await hcn.createEndpoint(endpoint("e1", "10.1.9.5"));
  const heard: string[] = [];
  const stop = await hcn.watch(({ what }) => heard.push(what));
  fake.removeNetwork(NETWORK);
  await stop();
  fake.notify("service-gone");
  expect(heard).toEqual(["network-deleted"]);
  expect(await hcn.endpointIds()).toEqual([]);
});
