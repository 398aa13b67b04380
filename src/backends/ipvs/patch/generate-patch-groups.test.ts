import * as fc from "fast-check";
import { expect, test } from "vitest";
import { setsOf } from "../glue/set-names.ts";
import { createHandlers } from "../handlers/create-handlers.ts";
import { createFakePlatform, type FakeKernel } from "../kernel/fake-platform.fixture.ts";
import { Proxier } from "../kernel/proxier.ts";
import type {
  DesiredState,
  EndpointInfo,
  Entrance,
  ServiceType,
  ServiceWithEndpoints,
} from "../plan/service-info.ts";
import { generatePatchGroups } from "./generate-patch-groups.ts";

const TYPES: readonly ServiceType[] = ["ClusterIP", "NodePort", "LoadBalancer", "Listener"];
const KINDS = {
  ClusterIP: "cluster-ip",
  NodePort: "node-port",
  LoadBalancer: "load-balancer-ip",
  Listener: "listen-address",
} as const;

const weight = fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined });

const endpoints: fc.Arbitrary<ReadonlyMap<string, EndpointInfo>> = fc
  .uniqueArray(
    fc.record({
      host: fc.integer({ min: 1, max: 4 }),
      isLocal: fc.boolean(),
      clusterWeight: weight,
      localWeight: weight,
    }),
    { selector: ({ host }) => host, maxLength: 4 },
  )
  .map(
    (list) =>
      new Map(
        list.map(({ host, ...rest }) => [
          `10.244.0.${host}:8080`,
          { ip: `10.244.0.${host}`, port: 8080, protocol: "TCP", ...rest },
        ]),
      ),
  );

/** Addresses of one service are of nobody else. */
function entranceOf(id: number, type: ServiceType): fc.Arbitrary<Entrance> {
  return fc.record({
    kind: fc.constant(KINDS[type]),
    protocol: fc.constantFrom("TCP", "UDP"),
    ip: fc.integer({ min: 1, max: 3 }).map((host) => `10.96.${id}.${host}`),
    port: fc.constantFrom(80, 443),
    isNodes: fc.constant(type === "NodePort"),
    list: fc.constantFrom("cluster", "local"),
    outcome: fc.constantFrom("served", "rejected", "dropped"),
    insideMark: fc.constantFrom(undefined, 0x2000_0000 + id),
    access: fc.constant(undefined),
  });
}

function serviceOf(id: number): fc.Arbitrary<ServiceWithEndpoints> {
  const type = TYPES[id % TYPES.length] ?? "ClusterIP";
  const entrances = fc.uniqueArray(entranceOf(id, type), {
    selector: ({ protocol, ip, port }) => `${protocol} ${ip} ${port}`,
    minLength: 1,
    maxLength: 3,
  });
  const balancing = fc.constantFrom(
    { scheduler: "wrr", flags: 0, persistenceSeconds: 0 },
    { scheduler: "sh", flags: 8, persistenceSeconds: 0 },
  );
  return fc
    .record({ entrances, endpoints, balancing, healthCheckPort: fc.constantFrom(0, 30_000 + id) })
    .map(({ endpoints: own, ...service }) => ({
      service: { id: `s${id}`, service: `default/s${id}`, type, family: "v4", ...service },
      endpoints: own,
    }));
}

const state: fc.Arbitrary<DesiredState> = fc
  .subarray([0, 1, 2, 3, 4])
  .chain((ids) => fc.tuple(...ids.map(serviceOf)))
  .map((services) => new Map(services.map((one) => [one.service.id, one])));

function proxierOn(kernel: FakeKernel): Proxier {
  return new Proxier({
    family: "v4",
    platform: createFakePlatform(kernel),
    sets: setsOf("v4"),
    marksOf: (mark) => [mark, mark + 0x4000],
    isForeign: () => false,
    isForeignAddress: () => false,
  });
}

async function kernelOf(...states: readonly DesiredState[]): Promise<FakeKernel> {
  const kernel: FakeKernel = {
    servers: new Map(),
    destinations: new Map(),
    entries: new Map(),
    addresses: new Set(),
  };
  const proxier = proxierOn(kernel);
  const handlers = createHandlers(proxier);
  let before: DesiredState = new Map();
  for (const after of states) {
    for (const group of generatePatchGroups(before, after)) group.apply(handlers);
    expect((await proxier.flush()).failures).toEqual([]);
    before = after;
  }
  return kernel;
}

test("applied to what A left in the kernel, the groups from A to B give what B alone gives", async () => {
  await fc.assert(
    fc.asyncProperty(state, state, async (a, b) => {
      expect(await kernelOf(a, b)).toEqual(await kernelOf(b));
    }),
    { numRuns: 200 },
  );
});

test("groups are independent: in any order they give the same", async () => {
  await fc.assert(
    fc.asyncProperty(state, state, async (a, b) => {
      const run = async (reversed: boolean): Promise<FakeKernel> => {
        const kernel = await kernelOf();
        const proxier = proxierOn(kernel);
        const handlers = createHandlers(proxier);
        for (const group of generatePatchGroups(new Map(), a)) group.apply(handlers);
        const groups = [...generatePatchGroups(a, b)];
        for (const group of reversed ? groups.reverse() : groups) {
          group.apply(handlers);
          await proxier.flush();
        }
        return kernel;
      };
      expect(await run(true)).toEqual(await run(false));
    }),
    { numRuns: 50 },
  );
});

test("nothing is to be done where nothing changed", () => {
  fc.assert(
    fc.property(state, (a) => {
      expect(generatePatchGroups(a, new Map(a))).toEqual([]);
    }),
  );
});
