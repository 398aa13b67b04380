import fc from "fast-check";
import { FAMILIES, type Family } from "../../core/model/address.ts";
import type { Endpoint } from "../../core/model/endpoint.ts";
import type { Node } from "../../core/model/node.ts";
import type { Service } from "../../core/model/service.ts";
import type { EndingPlace, NodeEndpoint, NodeService } from "../../core/view/ops.ts";

/** Objects that use every field, with names in several scripts and lengths. */

const record = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record<T, keyof T>(fields, { noNullPrototype: true });

const name = fc.stringMatching(/^[a-z][a-z0-9.|@-]{0,70}$/);
const word = fc.oneof(fc.constant(""), name, fc.constantFrom("größe", "名前", "x".repeat(300)));
const strings = fc.dictionary(fc.oneof(name, fc.constant("ключ")), word, {
  maxKeys: 3,
  noNullPrototype: true,
});
const port = fc.integer({ min: 1, max: 65_535 });
const optionalPort = fc.oneof(fc.constant(0), port);
const ip = fc.oneof(
  fc.tuple(fc.nat(255), fc.nat(255)).map(([a, b]) => `10.0.${a}.${b}`),
  fc.integer({ min: 1, max: 0xffff }).map((n) => `fd00::${n.toString(16)}`),
);
const ips = fc.uniqueArray(ip, { maxLength: 4 });
const families: fc.Arbitrary<readonly Family[]> = fc.constantFrom([], ["v4"], ["v6"], FAMILIES);
const policy = fc.constantFrom("Cluster", "Local");

export const service: fc.Arbitrary<Service> = record({
  kind: fc.constant("Service"),
  namespace: name,
  name,
  labels: strings,
  annotations: strings,
  type: fc.constantFrom("ClusterIP", "NodePort", "LoadBalancer", "Plain"),
  clusterIPs: ips,
  externalIPs: ips,
  loadBalancerIPs: ips,
  edgeIPs: fc.array(
    fc.oneof(
      record({
        address: ip,
        policy: fc.constantFrom("round-robin", "closest"),
        instance: fc.constant(-1),
      }),
      record({ address: ip, policy: fc.constant("instance"), instance: fc.nat(100) }),
    ),
    { maxLength: 2 },
  ),
  ports: fc.uniqueArray(
    record({
      name: fc.oneof(fc.constant(""), name),
      protocol: fc.constantFrom("TCP", "UDP", "SCTP"),
      port,
      nodePort: optionalPort,
      targetPort: optionalPort,
      targetPortName: fc.oneof(fc.constant(""), name),
    }),
    { maxLength: 3, selector: (one) => one.name },
  ),
  internalTrafficPolicy: policy,
  externalTrafficPolicy: policy,
  affinitySeconds: fc.integer({ min: 0, max: 86_400 }),
  sourceRanges: fc.uniqueArray(fc.constantFrom("10.0.0.0/8", "fd00::/8", "0.0.0.0/0", "::/0")),
  healthCheckNodePort: optionalPort,
  trafficDistribution: word,
  groups: fc.array(
    record({
      group: fc.tuple(name, name).map(([a, b]) => `${a}/${b}`),
      weight: fc.nat(65_535),
      hints: record({ host: word, port: optionalPort, path: word }),
    }),
    { maxLength: 2 },
  ),
});

const endingPlaces: fc.Arbitrary<readonly EndingPlace[]> = fc.array(
  record({ portIndex: fc.nat(3), address: ip, target: port }),
  { maxLength: 2 },
);

export const nodeService: fc.Arbitrary<NodeService> = service.chain((value) =>
  fc
    .array(families, { minLength: value.ports.length, maxLength: value.ports.length })
    .chain((usable) =>
      endingPlaces.map((ending) => ({
        key: `${value.namespace}/${value.name}`,
        service: value,
        usable,
        ...(ending.length > 0 && { ending }),
      })),
    ),
);

export const endpoint: fc.Arbitrary<Endpoint> = record({
  kind: fc.constant("Endpoint"),
  namespace: name,
  name,
  labels: strings,
  annotations: strings,
  group: name,
  podName: fc.oneof(fc.constant(""), name),
  source: fc.oneof(fc.constant(""), name),
  addresses: ips,
  hostName: fc.oneof(fc.constant(""), fc.constantFrom("server.example", "/run/server.sock")),
  families: fc.constantFrom<Family[]>([], ["v4"], ["v6"]),
  ports: fc.uniqueArray(record({ name: fc.oneof(fc.constant(""), name), port }), {
    maxLength: 3,
    selector: (one) => one.name,
  }),
  node: word,
  zone: word,
  hints: record({
    zones: fc.array(name, { maxLength: 2 }),
    nodes: fc.array(name, { maxLength: 2 }),
  }),
  ready: fc.boolean(),
  serving: fc.boolean(),
  terminating: fc.boolean(),
  weight: fc.nat(65_535),
  instance: fc.integer({ min: -1, max: 1000 }),
  needs: fc.array(
    fc.tuple(name, name).map(([a, b]) => `${a}/${b}`),
    { maxLength: 2 },
  ),
}).map((one) => (one.hostName === "" ? { ...one, families: [] } : one));

/** Of the service of its group or of another one, with the endpoint's own ports or resolved ones. */
export const nodeEndpoint: fc.Arbitrary<NodeEndpoint> = record({
  endpoint,
  other: fc.option(fc.tuple(name, name).map(([a, b]) => `${a}/${b}`)),
  local: fc.boolean(),
  clusterFor: families,
  localFor: families,
  ownPorts: fc.boolean(),
  target: port,
  isRenamed: fc.boolean(),
}).map(({ endpoint: value, other, local, clusterFor, localFor, ownPorts, target, isRenamed }) => {
  const group = `${value.namespace}/${value.group}`;
  const service = other ?? group;
  const used = ownPorts ? value.ports : [{ name: "", port: target }];
  return {
    path: `${service}/${isRenamed ? "elsewhere" : value.name}`,
    service,
    group,
    endpoint: value,
    local,
    ports: used.map((one) => ({ name: one.name, target: one.port, clusterFor, localFor })),
  };
});

export const node: fc.Arbitrary<Node> = record({
  kind: fc.constant("Node"),
  name,
  labels: strings,
  annotations: strings,
  addresses: ips,
  zone: word,
  subnets: fc.uniqueArray(fc.constantFrom("10.1.0.0/24", "fd01::/64")),
  tunnel: fc.option(record({ address: name, publicKey: word }), { nil: undefined }),
  alive: fc.boolean(),
  leaving: word,
});
