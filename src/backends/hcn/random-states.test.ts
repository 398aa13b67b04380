import fc from "fast-check";
import { expect, test } from "vitest";
import type { ModelObject } from "../../core/model/object.ts";
import type { FakeHcn } from "../../platform/windows/fake.ts";
import { isOwnGuid } from "../../platform/windows/guid.ts";
import { HRESULT } from "../../platform/windows/hcn-failure.ts";
import { FaultyCalls, UNEXPECTED } from "./faulty-calls.fixture.ts";
import { endpoint, NETWORK_ID, networkJson, seedLocal, service } from "./hcn-rig.fixture.ts";
import {
  balancersIn,
  createFake,
  OTHERS_BALANCER,
  OTHERS_ID,
  remoteIps,
  start,
} from "./hcn-view.fixture.ts";

/** On this node, made by others. */
const LOCAL = "10.1.0.5";

const serviceArbitrary = fc.record({
  name: fc.constantFrom("a", "b", "c"),
  nodePort: fc.boolean(),
  external: fc.boolean(),
  isLocal: fc.boolean(),
  endpoints: fc.uniqueArray(fc.constantFrom("10.1.2.1", "10.1.2.2", "10.1.2.3", LOCAL), {
    maxLength: 4,
  }),
});
const stateArbitrary = fc.uniqueArray(serviceArbitrary, {
  selector: ({ name }) => name,
  maxLength: 3,
});

function objectsOf(
  state: readonly {
    name: string;
    nodePort: boolean;
    external: boolean;
    isLocal: boolean;
    endpoints: readonly string[];
  }[],
): readonly ModelObject[] {
  return state.flatMap(({ name, nodePort, external, isLocal, endpoints }) => {
    const number = name.charCodeAt(0);
    return [
      service(name, {
        clusterIPs: [`10.96.0.${number}`],
        externalIPs: external ? [`198.51.100.${number}`] : [],
        externalTrafficPolicy: isLocal ? "Local" : "Cluster",
        ports: [{ port: 80, nodePort: nodePort ? 30000 + number : 0, targetPort: 8080 }],
      }),
      ...endpoints.map((ip) => endpoint(name, ip, ip === LOCAL ? { node: "here" } : {})),
    ];
  });
}

const faultArbitrary = fc.record({
  at: fc.nat(24),
  when: fc.constantFrom("before" as const, "after" as const),
  hresult: fc.constantFrom(
    UNEXPECTED,
    HRESULT.serverUnavailable,
    HRESULT.endpointNotFound,
    HRESULT.networkNotFound,
  ),
});

/** What others do between two syncs, and HNS itself. */
const eventArbitrary = fc.constantFrom("nothing", "restart", "removal", "network");

const ROUTE = { DestinationPrefix: "10.1.2.0/24", IsolationId: 1, ProviderAddress: "192.0.2.2" };
const NETWORKS = {
  L2Bridge: networkJson(),
  Overlay: networkJson({
    Type: "Overlay",
    Policies: [{ Type: "RemoteSubnetRoute", Settings: ROUTE }],
  }),
} as const;

async function happen(event: string, fake: FakeHcn, network: string): Promise<void> {
  if (event === "restart") fake.restart();
  if (event === "removal") {
    for (const kind of ["LoadBalancer", "Endpoint"] as const) {
      const [first] = [...fake.all(kind).keys()].filter(isOwnGuid);
      if (first !== undefined) fake.remove(kind, first);
    }
  }
  if (event !== "network") return;
  fake.removeNetwork(NETWORK_ID);
  fake.seed("Network", NETWORK_ID, network);
  seedLocal(fake, LOCAL);
}

test("random states with a failure at any call, and an HNS that others change: the next good sync ends as if there was none", async () => {
  const step = fc.tuple(stateArbitrary, fc.option(faultArbitrary), eventArbitrary);
  const versions = fc.constantFrom({ major: 15, minor: 5 }, { major: 12, minor: 0 });
  const types = fc.constantFrom("L2Bridge" as const, "Overlay" as const);
  const steps = fc.array(step, { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(steps, versions, types, async (all, version, type) => {
      const flags = { sourceVip: "10.1.0.2" };
      const network = NETWORKS[type];
      const fake = createFake(version, network);
      seedLocal(fake, LOCAL);
      const faulty = new FaultyCalls(fake);
      const { feed, world } = await start(faulty, flags);
      for (const [state, fault, event] of all) {
        faulty.names.length = 0;
        faulty.fault = fault ?? undefined;
        const failed = await feed.apply(...objectsOf(state)).then(
          () => false,
          () => true,
        );
        faulty.fault = undefined;
        if (failed) await feed.again();
        const ideal = createFake(version, network);
        const pod = seedLocal(ideal, LOCAL);
        const { feed: calm } = await start(ideal, flags);
        await calm.apply(...objectsOf(state));
        const expectIdeal = (): void => {
          expect(balancersIn(fake)).toEqual(balancersIn(ideal));
          expect(remoteIps(fake)).toEqual(remoteIps(ideal));
          expect(fake.all("Endpoint").get(pod)).toBe(ideal.all("Endpoint").get(pod));
        };
        expectIdeal();
        if (event !== "restart")
          expect(fake.all("LoadBalancer").get(OTHERS_ID)).toBe(OTHERS_BALANCER);
        faulty.isLoose = true;
        await happen(event, fake, network);
        if (event === "removal") await world.fullCheck();
        else await world.check();
        faulty.isLoose = false;
        expectIdeal();
        fake.seed("LoadBalancer", OTHERS_ID, OTHERS_BALANCER);
      }
    }),
    { numRuns: 60 },
  );
});
