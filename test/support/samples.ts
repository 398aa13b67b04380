import { EMPTY, NO_STRINGS } from "../../src/core/model/common.ts";
import { type Endpoint, NO_TOPOLOGY } from "../../src/core/model/endpoint.ts";
import type { Group } from "../../src/core/model/group.ts";
import type { Listener } from "../../src/core/model/listener.ts";
import type { Node } from "../../src/core/model/node.ts";
import { NO_HINTS } from "../../src/core/model/route-hints.ts";
import type { Service, ServicePort } from "../../src/core/model/service.ts";

/**
 * Objects with every field at its plainest value, for tests and examples: say only what matters.
 */
export function sampleService(fields: Partial<Service> & { readonly name: string }): Service {
  return {
    kind: "Service",
    namespace: "default",
    labels: NO_STRINGS,
    annotations: NO_STRINGS,
    type: "ClusterIP",
    clusterIPs: EMPTY,
    externalIPs: EMPTY,
    loadBalancerIPs: EMPTY,
    edgeIPs: EMPTY,
    ports: [samplePort()],
    internalTrafficPolicy: "Cluster",
    externalTrafficPolicy: "Cluster",
    affinitySeconds: 0,
    sourceRanges: EMPTY,
    healthCheckNodePort: 0,
    trafficDistribution: "",
    groups: EMPTY,
    ...fields,
  };
}

export function samplePort(fields: Partial<ServicePort> = {}): ServicePort {
  return {
    name: "",
    protocol: "TCP",
    port: 80,
    nodePort: 0,
    targetPort: 8080,
    targetPortName: "",
    ...fields,
  };
}

/** An endpoint of the group; its name is its first address unless one is given. */
export function sampleEndpoint(
  fields: Partial<Endpoint> & { readonly group: string; readonly addresses: readonly string[] },
): Endpoint {
  return {
    kind: "Endpoint",
    namespace: "default",
    name: fields.addresses[0] ?? "nameless",
    labels: NO_STRINGS,
    annotations: NO_STRINGS,
    podName: "",
    source: "",
    hostName: "",
    families: EMPTY,
    ports: EMPTY,
    node: "",
    zone: "",
    hints: NO_TOPOLOGY,
    ready: true,
    serving: true,
    terminating: false,
    weight: 1,
    instance: -1,
    needs: EMPTY,
    ...fields,
  };
}

export function sampleNode(fields: Partial<Node> & { readonly name: string }): Node {
  return {
    kind: "Node",
    labels: NO_STRINGS,
    annotations: NO_STRINGS,
    addresses: EMPTY,
    zone: "",
    subnets: EMPTY,
    tunnel: undefined,
    alive: true,
    leaving: "",
    ...fields,
  };
}

export function sampleGroup(fields: Partial<Group> & { readonly name: string }): Group {
  return {
    kind: "Group",
    namespace: "default",
    labels: NO_STRINGS,
    annotations: NO_STRINGS,
    method: "weighted-round-robin",
    tls: undefined,
    healthCheck: {
      protocol: "none",
      timeoutMs: 2000,
      intervalMs: 5000,
      up: 2,
      down: 3,
      http: { method: "GET", path: "/", host: "", status: ["2xx"] },
      dnsName: "",
    },
    slowStartMs: 0,
    hints: NO_HINTS,
    ...fields,
  };
}

export function sampleListener(
  fields: Partial<Listener> & { readonly name: string; readonly service: string },
): Listener {
  return {
    kind: "Listener",
    namespace: "default",
    labels: NO_STRINGS,
    annotations: NO_STRINGS,
    address: "127.0.0.1",
    port: 8080,
    servicePort: "",
    mode: "tcp",
    tls: undefined,
    proxyProtocol: { send: "none", acceptFrom: EMPTY },
    securityGroup: "",
    idleTimeoutMs: 900_000,
    connectTimeoutMs: 5000,
    inBufferBytes: 16_384,
    outBufferBytes: 16_384,
    acceptLoops: "",
    workLoops: "",
    fallsBack: true,
    allowOthers: false,
    usersFile: "",
    websocks: undefined,
    websocksAgent: undefined,
    trustedHops: EMPTY,
    hostsFile: "",
    forwardTo: EMPTY,
    dnsTtlSeconds: 5,
    node: "",
    ...fields,
  };
}
