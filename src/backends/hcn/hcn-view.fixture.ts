import { parseEndpoint } from "../../platform/windows/endpoint.ts";
import { FakeHcn } from "../../platform/windows/fake.ts";
import { isOwnGuid } from "../../platform/windows/guid.ts";
import type { HcnCalls, OwnKind } from "../../platform/windows/hcn-calls.ts";
import type { HnsVersion } from "../../platform/windows/hns-features.ts";
import { parseLoadBalancer } from "../../platform/windows/load-balancer.ts";
import type { Backend } from "../backend.ts";
import { createHcnBackend } from "./hcn-backend.ts";
import {
  Feed,
  NETWORK_ID,
  networkJson,
  optionsOf,
  TestWorld,
  testContext,
} from "./hcn-rig.fixture.ts";

export const OTHERS_ID: string = "22222222-0000-4000-8000-000000000001";
export const OTHERS_BALANCER: string = JSON.stringify({
  ID: OTHERS_ID,
  HostComputeEndpoints: ["33333333-0000-4000-8000-000000000001"],
  FrontendVIPs: ["10.96.9.9"],
  PortMappings: [{ Protocol: 6, InternalPort: 1, ExternalPort: 1 }],
});

export function createFake(version?: HnsVersion, network: string = networkJson()): FakeHcn {
  const fake = new FakeHcn(version);
  fake.seed("Network", NETWORK_ID, network);
  fake.seed("LoadBalancer", OTHERS_ID, OTHERS_BALANCER);
  return fake;
}

/** A backend with all that a test moves. */
export interface Rig {
  readonly backend: Backend;
  readonly feed: Feed;
  readonly world: TestWorld;
}

export async function start(
  calls: HcnCalls,
  flags: Readonly<Record<string, unknown>> = {},
): Promise<Rig> {
  const world = new TestWorld(calls);
  const backend = await createHcnBackend(optionsOf(flags), testContext(), world);
  return { backend, feed: new Feed(backend.sink), world };
}

/** Ours of a kind, by what they stand for. */
export function ownOf(fake: FakeHcn, kind: OwnKind): readonly string[] {
  return [...fake.all(kind)].filter(([id]) => isOwnGuid(id)).map(([, json]) => json);
}

/** `tcp 10.96.0.1:80 -> 10.1.2.1,10.1.2.2:8080 dsr` */
export function balancersIn(fake: FakeHcn): readonly string[] {
  const ipOf = (id: string) => {
    const json = fake.all("Endpoint").get(id);
    return json === undefined ? "GONE" : parseEndpoint(json).addresses[0]?.address;
  };
  return ownOf(fake, "LoadBalancer")
    .map((json) => {
      const { frontendVips, portMappings, endpoints, isDsr, sourceVip } = parseLoadBalancer(json);
      const [mapping] = portMappings;
      const to = endpoints.map(ipOf).sort().join();
      const words = [...(mapping?.flags ?? []), isDsr ? "dsr" : "", sourceVip].filter(Boolean);
      const sticky = mapping?.distribution === "none" ? [] : [mapping?.distribution];
      return [
        `${mapping?.protocol} ${frontendVips.join() || "node"}:${mapping?.externalPort} -> ${to}:${mapping?.internalPort}`,
        ...words,
        ...sticky,
      ].join(" ");
    })
    .sort();
}

/** Addresses of remote endpoints of ours. */
export function remoteIps(fake: FakeHcn): readonly string[] {
  return ownOf(fake, "Endpoint")
    .map((json) => parseEndpoint(json).addresses[0]?.address ?? "")
    .sort();
}
