import fc from "fast-check";
import { FAMILIES, type Family, familyOf } from "../../src/core/model/address.ts";
import { PROTOCOLS, type Protocol } from "../../src/core/model/common.ts";
import { endpointSchema } from "../../src/core/model/endpoint.ts";
import { nodeSchema } from "../../src/core/model/node.ts";
import type { ModelObject } from "../../src/core/model/object.ts";
import { type Service, serviceSchema } from "../../src/core/model/service.ts";
import type { Packet, PacketOrigin } from "../../src/core/route/packet.ts";
import { type NodeName, TOPOLOGY } from "../../src/core/route/scenarios/topology.ts";

const MOST_SERVICES = 3;
const MOST_ENDPOINTS = 4;
const NODE_NAMES: readonly NodeName[] = ["node-a", "node-b", "node-c"];

/** The first more often than the others, so that most packets come far. */
function mostly<T>(usual: T, ...others: readonly T[]): fc.Arbitrary<T> {
  const rare = { arbitrary: fc.constantFrom(...others), weight: 1 };
  return fc.oneof({ arbitrary: fc.constant(usual), weight: 4 }, rare);
}

const policies = fc.constantFrom("Cluster", "Local");
const { nodes, workloads, outside } = TOPOLOGY;

const RANGES = [
  nodes["node-a"].subnets.v4,
  nodes["node-a"].subnets.v6,
  `${outside.v4}/32`,
  `${outside.v6}/128`,
  `${nodes["node-a"].addresses.v4}/32`,
] as const;

/** Addresses follow from the number of the service, so that no two services claim the same. */
const service = (number: number): fc.Arbitrary<ModelObject> =>
  fc
    .record({
      internalTrafficPolicy: policies,
      externalTrafficPolicy: policies,
      affinitySeconds: mostly(0, 60),
      sourceRanges: mostly<readonly string[]>([], ...RANGES.map((range) => [range])),
      protocol: mostly<Protocol>("TCP", "UDP", "SCTP"),
      nodePort: fc.constantFrom(0, 30_000 + number),
    })
    .map(({ protocol, nodePort, ...policy }) =>
      serviceSchema.parse({
        kind: "Service",
        name: `s${number}`,
        type: "LoadBalancer",
        clusterIPs: [`10.96.0.${number}`, `fd00:96::${number}`],
        externalIPs: [`203.0.113.${number}`, `2001:db8::${number}`],
        loadBalancerIPs: [`198.51.100.${number}`, `2001:db8:1::${number}`],
        ports: [
          { name: "one", port: 80, protocol, targetPort: 8080, nodePort },
          { name: "two", port: 81, protocol: "TCP", targetPort: 9090 },
        ],
        ...policy,
      }),
    );

/**
 * The callers of the topology are among the endpoints: some call themselves. Some are the node itself, and of some
 * nobody knows where they run.
 */
const endpoint = (owner: number, number: number): fc.Arbitrary<ModelObject> =>
  fc
    .record({
      families: mostly<readonly Family[]>(FAMILIES, ["v4"], ["v6"]),
      ready: mostly(true, false),
      serving: fc.boolean(),
      terminating: mostly(false, true),
      node: fc.constantFrom(...NODE_NAMES, ""),
      weight: mostly(1, 0, 2, 3),
      zones: mostly<readonly string[]>([], ["a"], ["c"]),
      ports: mostly<readonly object[]>([], [{ name: "one", port: 7070 }]),
    })
    .map(({ families, zones, ...fields }) => {
      const isCaller = number === 0 && ["node-a", ""].includes(fields.node);
      const isNode = number === 1 && fields.node === "node-a";
      const made = { v4: `10.244.9.${owner * 16 + number}`, v6: `fd00:244:9::${owner}:${number}` };
      const own = isNode ? nodes["node-a"].addresses : workloads["client-a"].addresses;
      const taken = isCaller || isNode ? own : made;
      return endpointSchema.parse({
        kind: "Endpoint",
        name: `e${number}`,
        group: `s${owner}`,
        addresses: families.map((family) => taken[family]),
        hints: { zones },
        ...fields,
      });
    });

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

const NODES: readonly ModelObject[] = NODE_NAMES.map((name) => {
  const { zone, addresses, subnets } = nodes[name];
  return nodeSchema.parse({
    kind: "Node",
    name,
    zone,
    addresses: [...FAMILIES.map((family) => addresses[family])],
    subnets: FAMILIES.map((family) => subnets[family]),
  });
});

/** States of a few services, with everything that changes where packets go. */
export const randomObjects: fc.Arbitrary<readonly ModelObject[]> = fc
  .tuple(
    ...numbers(MOST_SERVICES).flatMap((index) => [
      fc.array(service(index + 1), { minLength: 1 - Math.min(1, index), maxLength: 1 }),
      ...numbers(MOST_ENDPOINTS).map((number) =>
        fc.array(endpoint(index + 1, number), { maxLength: 1 }),
      ),
    ]),
  )
  .map((lists) => [...lists.flat(), ...NODES]);

interface Caller {
  readonly from: PacketOrigin;
  readonly addresses: Readonly<Record<Family, string>>;
}

const CALLERS: readonly Caller[] = [
  { from: "node", addresses: nodes["node-a"].addresses },
  { from: "workload", addresses: workloads["client-a"].addresses },
  { from: "outside", addresses: outside },
];

/** Everyone's calls to every address of every service, and to ports that none of them has. */
export function packetsOf(objects: readonly ModelObject[]): readonly Packet[] {
  return objects.flatMap((object) => (object.kind === "Service" ? packetsTo(object) : []));
}

function packetsTo(service: Service): readonly Packet[] {
  const addresses = [service.clusterIPs, service.externalIPs, service.loadBalancerIPs].flat();
  const ports = [...service.ports.map(({ port }) => port), 82];
  const places = addresses.flatMap((dst) => ports.map((dstPort) => ({ dst, dstPort })));
  const node = FAMILIES.map((family) => nodes["node-a"].addresses[family]);
  const nodePorts = service.ports.flatMap(({ nodePort }) =>
    node.map((dst) => ({ dst, dstPort: nodePort === 0 ? 31_000 : nodePort })),
  );
  return [...places, ...nodePorts].flatMap(({ dst, dstPort }) =>
    CALLERS.flatMap(({ from, addresses: own }) =>
      PROTOCOLS.map((protocol) => ({ protocol, src: own[familyOf(dst)], dst, dstPort, from })),
    ),
  );
}
