import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FAMILIES, type Family, formatHostPort } from "../../../core/model/address.ts";
import type { AccessList } from "../../access-list.ts";
import { setsOf } from "../glue/set-names.ts";
import { createHandlers } from "../handlers/create-handlers.ts";
import {
  createFakeKernel,
  createFakePlatform,
  type FakeKernel,
} from "../kernel/fake-platform.fixture.ts";
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

/** The addresses of endpoints, of services by their number, and of networks of clients. */
const ADDRESSES = {
  v4: {
    endpoint: (host: number) => `10.244.0.${host}`,
    service: (id: number, host: number) => `10.96.${id}.${host}`,
    networks: ["0.0.0.0/0", "10.0.0.0/8", "10.1.0.0/16", "10.1.2.3/32"],
  },
  v6: {
    endpoint: (host: number) => `fd00:244::${host}`,
    service: (id: number, host: number) => `fd00:96:${id}::${host}`,
    networks: ["::/0", "fd00::/8", "fd00:1::/32", "fd00:1::3/128"],
  },
} as const;

function endpointsOf(family: Family): fc.Arbitrary<ReadonlyMap<string, EndpointInfo>> {
  return fc
    .uniqueArray(
      fc.record({
        host: fc.integer({ min: 1, max: 4 }),
        protocol: fc.constantFrom("TCP", "UDP", "SCTP"),
        mayCallItself: fc.boolean(),
        clusterWeight: weight,
        localWeight: weight,
      }),
      { selector: ({ host }) => host, maxLength: 4 },
    )
    .map(
      (list) =>
        new Map(
          list.map(({ host, ...rest }) => {
            const ip = ADDRESSES[family].endpoint(host);
            return [formatHostPort(ip, 8080), { ip, port: 8080, ...rest }];
          }),
        ),
    );
}

/** Of two entries for one network the first decides; some are for calls to another address. */
function accessOf(family: Family): fc.Arbitrary<AccessList | undefined> {
  const { networks, service } = ADDRESSES[family];
  const access = fc.constantFrom("allow", "deny");
  const bits = family === "v4" ? 32 : 128;
  const entry = fc.record(
    {
      network: fc.constantFrom(...networks),
      access,
      destination: fc.constantFrom(...[1, 2].map((host) => `${service(2, host)}/${bits}`)),
    },
    { requiredKeys: ["network", "access"] },
  );
  const list = fc.record({ entries: fc.array(entry, { maxLength: 4 }), otherwise: access });
  return fc.option(list, { nil: undefined });
}

/** Addresses of one service are of nobody else. */
function entranceOf(id: number, type: ServiceType, family: Family): fc.Arbitrary<Entrance> {
  return fc.record({
    kind: fc.constant(KINDS[type]),
    protocol: fc.constantFrom("TCP", "UDP", "SCTP"),
    ip: fc.integer({ min: 1, max: 3 }).map((host) => ADDRESSES[family].service(id, host)),
    port: fc.constantFrom(80, 443),
    isNodes: fc.constant(type === "NodePort"),
    list: fc.constantFrom("cluster", "local"),
    outcome: fc.constantFrom("served", "rejected", "dropped"),
    insideMark: fc.constantFrom(undefined, 0x2000_0000 + id),
    access: accessOf(family),
  });
}

function serviceOf(id: number, family: Family): fc.Arbitrary<ServiceWithEndpoints> {
  const type = TYPES[id % TYPES.length] ?? "ClusterIP";
  const entrances = fc.uniqueArray(entranceOf(id, type, family), {
    selector: ({ protocol, ip, port }) => `${protocol} ${ip} ${port}`,
    minLength: 1,
    maxLength: 3,
  });
  const balancing = fc.constantFrom(
    { scheduler: "wrr", flags: 0, persistenceSeconds: 0 },
    { scheduler: "sh", flags: 8, persistenceSeconds: 0 },
  );
  return fc
    .record({
      entrances,
      endpoints: endpointsOf(family),
      balancing,
      healthCheckPort: fc.constantFrom(0, 30_000 + id),
    })
    .map(({ endpoints: own, ...service }) => ({
      service: { id: `s${id}`, service: `default/s${id}`, type, family, ...service },
      endpoints: own,
    }));
}

const IDS = [0, 1, 2, 3, 4];

function stateOf(family: Family): fc.Arbitrary<DesiredState> {
  return fc
    .subarray(IDS)
    .chain((ids) => fc.tuple(...ids.map((id) => serviceOf(id, family))))
    .map((services) => new Map(services.map((one) => [one.service.id, one])));
}

/** A state, and one that follows it: of some services only endpoints change, or nothing. */
function changeOf(family: Family): fc.Arbitrary<readonly [DesiredState, DesiredState]> {
  return stateOf(family).chain((a) => {
    const next = IDS.map((id) => {
      const before = a.get(`s${id}`);
      const others = fc.option(serviceOf(id, family), { nil: undefined });
      if (before === undefined) return others;
      const moved = endpointsOf(family).map((own) => ({ ...before, endpoints: own }));
      return fc.oneof(others, moved, fc.constant(before));
    });
    return fc.tuple(...next).map((services) => {
      const there = services.flatMap((one) => one ?? []);
      return [a, new Map(there.map((one) => [one.service.id, one]))] as const;
    });
  });
}

function proxierOn(kernel: FakeKernel, family: Family): Proxier {
  return new Proxier({
    family,
    platform: createFakePlatform(kernel),
    sets: setsOf(family),
    marksOf: (mark) => [mark, mark + 0x4000],
    isForeign: () => false,
  });
}

const NOTHING: DesiredState = new Map();

/** Has a proxier do what leads from one state to another. */
async function lead(proxier: Proxier, from: DesiredState, to: DesiredState): Promise<void> {
  const handlers = createHandlers(proxier);
  for (const group of generatePatchGroups(from, to)) group.apply(handlers);
  expect((await proxier.flush()).failures).toEqual([]);
}

async function kernelOf(family: Family, ...states: readonly DesiredState[]): Promise<FakeKernel> {
  const kernel = createFakeKernel();
  const proxier = proxierOn(kernel, family);
  let before = NOTHING;
  for (const after of states) {
    await lead(proxier, before, after);
    before = after;
  }
  return kernel;
}

describe.each(FAMILIES)("of %s", (family) => {
  test("applied to what A left in the kernel, the groups from A to B give what B alone gives", async () => {
    await fc.assert(
      fc.asyncProperty(changeOf(family), async ([a, b]) => {
        expect(await kernelOf(family, a, b)).toEqual(await kernelOf(family, b));
      }),
      { numRuns: 120 },
    );
  });

  test("a proxier that finds what A left makes of it what B alone gives, and a second look finds nothing", async () => {
    await fc.assert(
      fc.asyncProperty(changeOf(family), async ([a, b]) => {
        const kernel = await kernelOf(family, a);
        const restarted = proxierOn(kernel, family);
        await restarted.read();
        await lead(restarted, NOTHING, b);
        expect(kernel).toEqual(await kernelOf(family, b));
        await restarted.read();
        expect((await restarted.flush()).changes).toBe(0);
      }),
      { numRuns: 120 },
    );
  });

  test("groups are independent: in any order they give the same", async () => {
    await fc.assert(
      fc.asyncProperty(changeOf(family), async ([a, b]) => {
        const run = async (reversed: boolean): Promise<FakeKernel> => {
          const kernel = createFakeKernel();
          const proxier = proxierOn(kernel, family);
          const handlers = createHandlers(proxier);
          for (const group of generatePatchGroups(NOTHING, a)) group.apply(handlers);
          const groups = [...generatePatchGroups(a, b)];
          for (const group of reversed ? groups.reverse() : groups) {
            group.apply(handlers);
            await proxier.flush();
          }
          return kernel;
        };
        expect(await run(true)).toEqual(await run(false));
      }),
      { numRuns: 40 },
    );
  });

  test("nothing is to be done where nothing changed", () => {
    fc.assert(
      fc.property(stateOf(family), (a) => {
        expect(generatePatchGroups(a, new Map(a))).toEqual([]);
      }),
    );
  });
});
