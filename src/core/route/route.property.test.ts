import fc from "fast-check";
import { expect, test } from "vitest";
import { FAMILIES, type Family, familyOf } from "../model/address.ts";
import type { Protocol } from "../model/common.ts";
import { endpointSchema } from "../model/endpoint.ts";
import { listenerSchema } from "../model/listener.ts";
import { nodeSchema } from "../model/node.ts";
import { keyOf, type ModelObject } from "../model/object.ts";
import { serviceSchema } from "../model/service.ts";
import { selectEndpoints } from "../view/select.ts";
import { verdictToJson } from "./describe.ts";
import type { Observed } from "./observed.ts";
import { PACKET_ORIGINS, type Packet } from "./packet.ts";
import { route } from "./route.ts";
import type { NodePortAddresses, RoutePolicy } from "./route-policy.ts";
import { globalStateOf } from "./scenarios/scenario.ts";
import type { Verdict } from "./verdict.ts";

const MOST_SERVICES = 3;
const MOST_ENDPOINTS = 4;
const NODES = ["here", "there", ""] as const;
const ZONES = ["a", "b", ""] as const;

/** The first nine times out of ten, so that most packets come far. */
function mostly<T>(usual: T, ...others: readonly T[]): fc.Arbitrary<T> {
  const rare = { arbitrary: fc.constantFrom(...others), weight: 1 };
  return fc.oneof({ arbitrary: fc.constant(usual), weight: 9 }, rare);
}

const policies = fc.constantFrom("Cluster", "Local");

/** Addresses follow from the number of the service, so that no two services claim the same. */
const service = (number: number): fc.Arbitrary<ModelObject> =>
  fc
    .record({
      internalTrafficPolicy: policies,
      externalTrafficPolicy: policies,
      affinitySeconds: fc.constantFrom(0, 60),
      sourceRanges: fc.subarray(["10.0.0.0/8", "192.168.0.1/32", "fd00::/16", "0.0.0.0/0"]),
      protocol: mostly<Protocol>("TCP", "UDP", "SCTP"),
      targetPort: fc.constantFrom(0, 8080),
      nodePort: fc.constantFrom(0, 30_000 + number),
      edge: fc.constantFrom("round-robin", "closest", "instance"),
      weights: fc.array(mostly(1, 0, 2), { minLength: 1, maxLength: 2 }),
    })
    .map(({ protocol, targetPort, nodePort, edge, weights, ...policy }) =>
      serviceSchema.parse({
        kind: "Service",
        name: `s${number}`,
        clusterIPs: [`10.96.0.${number}`, `fd00:96::${number}`],
        externalIPs: [`203.0.113.${number}`, `2001:db8::${number}`],
        loadBalancerIPs: [`198.51.100.${number}`, `2001:db8:1::${number}`],
        edgeIPs: [
          { address: `10.30.0.${number}`, policy: edge, instance: edge === "instance" ? 1 : -1 },
        ],
        ports: [
          { name: "one", port: 80, protocol, targetPort, nodePort },
          { name: "two", port: 81, protocol: "TCP", targetPort: 9090 },
        ],
        groups: weights.map((weight, index) => ({ group: `default/s${number}-${index}`, weight })),
        ...policy,
      }),
    );

const endpoint = (owner: number, number: number): fc.Arbitrary<ModelObject> =>
  fc
    .record({
      group: mostly(0, 1).map((index) => `s${owner}-${index}`),
      families: mostly<readonly Family[]>(FAMILIES, ["v4"], ["v6"]),
      ready: mostly(true, false),
      serving: fc.boolean(),
      terminating: fc.boolean(),
      node: fc.constantFrom(...NODES),
      zone: fc.constantFrom(...ZONES),
      weight: mostly(1, 0, 3),
      instance: fc.integer({ min: -1, max: 2 }),
      hints: fc.record({
        zones: fc.subarray(["a", "b"]),
        nodes: fc.subarray(["here", "there"]),
      }),
      ports: fc.subarray([{ name: "one", port: 7070 }]),
    })
    .map(({ families, ...fields }) => {
      const addresses = { v4: `10.1.${owner}.${number}`, v6: `fd00:1:${owner}::${number}` };
      return endpointSchema.parse({
        kind: "Endpoint",
        name: `e${number}`,
        addresses: families.map((family) => addresses[family]),
        ...fields,
      });
    });

const node = fc.subarray(["192.168.0.1", "192.168.0.2", "fd00:2::1"]).map((addresses) =>
  nodeSchema.parse({
    kind: "Node",
    name: "here",
    zone: "a",
    addresses,
    subnets: ["10.1.0.0/24", "fd00:1::/48"],
  }),
);

const listener = fc
  .record({
    address: fc.constantFrom("0.0.0.0", "::", "192.168.0.1"),
    service: fc.integer({ min: 1, max: MOST_SERVICES + 1 }).map((number) => `default/s${number}`),
    servicePort: fc.constantFrom("", "one", "two"),
    mode: fc.constantFrom("tcp", "udp", "http"),
    node: fc.constantFrom(...NODES),
    securityGroup: fc.constantFrom("", "default/missing"),
  })
  .map((fields) => listenerSchema.parse({ kind: "Listener", name: "l", port: 443, ...fields }));

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

const objects: fc.Arbitrary<readonly ModelObject[]> = fc
  .tuple(
    ...numbers(MOST_SERVICES).flatMap((owner) => [
      service(owner).map((one) => [one]),
      ...numbers(MOST_ENDPOINTS).map((number) =>
        fc.array(endpoint(owner, number), { minLength: number % 2, maxLength: 1 }),
      ),
    ]),
    fc.array(node, { maxLength: 1 }),
    fc.array(listener, { maxLength: 1 }),
  )
  .map((lists) => lists.flat());

const source = fc.constantFrom(
  ...["10.1.1.1", "10.1.1.2", "10.9.9.9", "192.168.0.1", "127.0.0.1"],
  ...["fd00:1:1::1", "fd00:9::9", "::1", "198.51.100.1"],
);

const destination = fc
  .record({
    net: fc.constantFrom("10.96.0.", "203.0.113.", "198.51.100.", "10.30.0.", "192.168.0."),
    netV6: fc.constantFrom("fd00:96::", "2001:db8::", "2001:db8:1::", "fd00:2::"),
    family: fc.constantFrom(...FAMILIES),
    number: fc.integer({ min: 1, max: MOST_SERVICES }),
  })
  .map(({ net, netV6, family, number }) => `${family === "v4" ? net : netV6}${number}`);

const packet: fc.Arbitrary<Packet> = fc.record(
  {
    protocol: mostly<Protocol>("TCP", "UDP", "SCTP"),
    src: source,
    dst: destination,
    dstPort: mostly(80, 81, 443, 30_001, 30_002),
    from: fc.constantFrom(...PACKET_ORIGINS),
    hint: fc.record({ host: fc.string(), path: fc.string() }),
  },
  { requiredKeys: ["protocol", "src", "dst", "dstPort", "from"] },
);

const policy: fc.Arbitrary<RoutePolicy> = fc.record({
  nodePortAddresses: fc.constantFrom<NodePortAddresses>("primary", "all", "localhost", [
    "192.168.0.0/24",
  ]),
  masqueradeAll: fc.boolean(),
  localDetection: fc.constantFrom<RoutePolicy["localDetection"]>(
    { mode: "none" },
    { mode: "node-cidr" },
    { mode: "interface" },
    { mode: "cluster-cidr", cidrs: ["10.1.0.0/16"] },
  ),
});

const observed: fc.Arbitrary<Observed> = fc.record(
  {
    affinity: fc.array(
      fc.record({
        service: fc.constantFrom("default/s1", "default/s2"),
        port: fc.constantFrom("one", "two"),
        client: source,
        endpoint: fc.constantFrom("default/s1-0/e1", "default/s2-0/e2"),
        ageSeconds: fc.nat(100),
      }),
    ),
    health: fc.constantFrom(new Map([["default/s1-0/e1", false]]), new Map()),
    roundTripMs: fc.constantFrom(new Map([["there", 3]]), new Map()),
  },
  { requiredKeys: [] },
);

const question = fc.record({ objects, packet, policy, observed });
type Question = typeof question extends fc.Arbitrary<infer Q> ? Q : never;

const RUNS = { numRuns: 400 };

function ask(asked: Question): Verdict {
  const state = { global: globalStateOf(asked.objects), node: "here" };
  return route(state, asked.packet, asked.policy, asked.observed);
}

test("shares sum to 1, and nobody is a candidate without one", () => {
  let reached = 0;
  fc.assert(
    fc.property(question, (asked) => {
      const verdict = ask(asked);
      if (verdict.kind !== "endpoints") return;
      reached += 1;
      const shares = verdict.candidates.map(({ probability }) => probability);
      expect(Math.min(...shares)).toBeGreaterThan(0);
      expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
    }),
    RUNS,
  );
  expect(reached).toBeGreaterThan(RUNS.numRuns / 10);
});

test("every candidate is in a list of the view, in the packet's family", () => {
  fc.assert(
    fc.property(question, (asked) => {
      const verdict = ask(asked);
      if (verdict.kind !== "endpoints" || verdict.matched.port === undefined) return;
      const { service, port } = verdict.matched;
      const family = familyOf(asked.packet.dst);
      const global = globalStateOf(asked.objects);
      const state = global.services.get(service);
      if (state === undefined)
        throw new Error(`the verdict names ${service}, which does not exist`);
      const zone = global.nodes.get("here")?.zone ?? "";
      const { cluster, local } = selectEndpoints(state, port, family, { name: "here", zone });
      const listed = new Set([...cluster.keys(), ...local.keys()].map(keyOf));
      for (const { endpoint, address } of verdict.candidates) {
        expect(listed).toContain(keyOf(endpoint));
        expect(familyOf(address)).toBe(family);
      }
    }),
    RUNS,
  );
});

test("every endpoint of the service is a candidate, or told why not, never both", () => {
  fc.assert(
    fc.property(question, (asked) => {
      const verdict = ask(asked);
      if (verdict.kind !== "endpoints") return;
      const state = globalStateOf(asked.objects).services.get(verdict.matched.service);
      const all = state?.groups.flatMap((group) => group.state.endpoints.map(keyOf)) ?? [];
      const told = [...verdict.candidates, ...verdict.others].map((one) => keyOf(one.endpoint));
      expect(told.sort()).toEqual(all.sort());
    }),
    RUNS,
  );
});

test("the order in which objects came, and services that were not called, change nothing", () => {
  fc.assert(
    fc.property(question, (asked) => {
      const verdict = ask(asked);
      const expected = verdictToJson(verdict);
      const reversed = { ...asked, objects: asked.objects.toReversed() };
      expect(verdictToJson(ask(reversed))).toEqual(expected);
      if (verdict.kind === "not-ours") return;
      const { service } = verdict.matched;
      const without = asked.objects.filter(
        (one) => one.kind !== "Service" || keyOf(one) === service,
      );
      expect(verdictToJson(ask({ ...asked, objects: without }))).toEqual(expected);
    }),
    RUNS,
  );
});
