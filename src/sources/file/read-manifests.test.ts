import { expect, test } from "vitest";
import type { ModelObject, ObjectOf } from "../../core/model/object.ts";
import { parseState } from "./parse-state.ts";

function load(...documents: readonly object[]) {
  const text = documents.map((document) => JSON.stringify(document)).join("\n---\n");
  return parseState([{ name: "state.yaml", bytes: new TextEncoder().encode(text) }]);
}

function only<K extends ModelObject["kind"]>(
  kind: K,
  ...documents: readonly object[]
): ObjectOf<K>[] {
  const isKind = (object: ModelObject): object is ObjectOf<K> => object.kind === kind;
  return load(...documents).objects.filter(isKind);
}

const service = (spec: object, metadata: object = {}, status: object = {}) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web", ...metadata },
  spec: { clusterIP: "10.96.0.1", ports: [{ port: 80 }], ...spec },
  status,
});

const slice = (fields: object, metadata: object = {}) => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { name: "web-1", labels: { "kubernetes.io/service-name": "web" }, ...metadata },
  addressType: "IPv4",
  ports: [{ name: "", port: 8080 }],
  endpoints: [{ addresses: ["10.0.0.1"] }],
  ...fields,
});

test("a service is taken over with Kubernetes' defaults", () => {
  expect(only("Service", service({}))).toEqual([
    {
      kind: "Service",
      namespace: "default",
      name: "web",
      labels: {},
      annotations: {},
      type: "ClusterIP",
      clusterIPs: ["10.96.0.1"],
      externalIPs: [],
      loadBalancerIPs: [],
      edgeIPs: [],
      ports: [
        { name: "", protocol: "TCP", port: 80, nodePort: 0, targetPort: 80, targetPortName: "" },
      ],
      internalTrafficPolicy: "Cluster",
      externalTrafficPolicy: "Cluster",
      affinitySeconds: 0,
      sourceRanges: [],
      healthCheckNodePort: 0,
      trafficDistribution: "",
      groups: [],
    },
  ]);
});

test.each([
  [
    "clusterIPs before clusterIP",
    { clusterIPs: ["10.96.0.1", "FD00::1"] },
    { clusterIPs: ["10.96.0.1", "fd00::1"] },
  ],
  ["affinity for three hours", { sessionAffinity: "ClientIP" }, { affinitySeconds: 10_800 }],
  [
    "affinity as long as it says",
    { sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } },
    { affinitySeconds: 5 },
  ],
  [
    "source ranges trimmed",
    { loadBalancerSourceRanges: [" 10.1.0.0/8 ", "fd00::/8"] },
    { sourceRanges: ["10.0.0.0/8", "fd00::/8"] },
  ],
  [
    "no health-check port of type NodePort",
    { type: "NodePort", externalTrafficPolicy: "Local", healthCheckNodePort: 30000 },
    { healthCheckNodePort: 0 },
  ],
  [
    "no health-check port with policy Cluster",
    { type: "LoadBalancer", healthCheckNodePort: 30000 },
    { healthCheckNodePort: 0 },
  ],
  [
    "a health-check port otherwise",
    { type: "LoadBalancer", externalTrafficPolicy: "Local", healthCheckNodePort: 30000 },
    { healthCheckNodePort: 30000 },
  ],
  [
    "policies",
    { internalTrafficPolicy: "Local", externalTrafficPolicy: "Local" },
    { internalTrafficPolicy: "Local", externalTrafficPolicy: "Local" },
  ],
  [
    "traffic distribution",
    { trafficDistribution: "PreferSameZone" },
    { trafficDistribution: "PreferSameZone" },
  ],
  [
    "leading zeros, which clusters of old times have, read as decimal",
    {
      clusterIPs: ["010.096.000.010"],
      externalIPs: ["010.1.02.3"],
      loadBalancerSourceRanges: ["010.0.0.0/8"],
    },
    {
      clusterIPs: ["10.96.0.10"],
      externalIPs: ["10.1.2.3"],
      sourceRanges: ["10.0.0.0/8"],
    },
  ],
  ["null for nothing", { externalIPs: null, type: null }, { externalIPs: [], type: "ClusterIP" }],
])("service: %s", (_, spec, expected) => {
  expect(only("Service", service(spec))[0]).toMatchObject(expected);
});

test("a target port is a number or a name", () => {
  const ports = [
    { name: "a", port: 80, targetPort: 8080 },
    { name: "b", port: 81, targetPort: "http", protocol: "UDP", nodePort: 30000 },
  ];
  expect(only("Service", service({ ports }))[0]?.ports).toEqual([
    { name: "a", protocol: "TCP", port: 80, nodePort: 0, targetPort: 8080, targetPortName: "" },
    {
      name: "b",
      protocol: "UDP",
      port: 81,
      nodePort: 30_000,
      targetPort: 0,
      targetPortName: "http",
    },
  ]);
});

test("load-balancer addresses only where they arrive as they are", () => {
  const ingress = [
    { ip: "203.0.113.1" },
    { ip: "203.0.113.2", ipMode: "VIP" },
    { ip: "203.0.113.3", ipMode: "Proxy" },
    { hostname: "lb.example" },
  ];
  const status = { loadBalancer: { ingress } };
  const [loaded] = only("Service", service({ type: "LoadBalancer" }, {}, status));
  expect(loaded?.loadBalancerIPs).toEqual(["203.0.113.1", "203.0.113.2"]);
});

test("what kubectl notes for itself is not kept", () => {
  const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "{}", a: "b" };
  expect(only("Service", service({}, { annotations }))[0]?.annotations).toEqual({ a: "b" });
});

test.each([
  [
    "Service: for another proxy",
    service({}, { labels: { "service.kubernetes.io/service-proxy-name": "x" } }),
  ],
  ["Service: headless", service({ clusterIP: "None" })],
  ["Service: headless", service({ clusterIPs: ["None"] })],
  ["Service: of type ExternalName", service({ type: "ExternalName", clusterIP: "" })],
  ["Service: without a cluster IP", service({ clusterIP: undefined })],
  ["EndpointSlice: without the label kubernetes.io/service-name", slice({}, { labels: {} })],
  ["EndpointSlice: of host names", slice({ addressType: "FQDN" })],
  [
    "EndpointSlice: without a port that has both a name and a number",
    slice({ ports: [{ port: 80 }, { name: "a", port: 0 }, { name: "b" }] }),
  ],
  ["Deployment", { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" } }],
  ["Service", { apiVersion: "serving.knative.dev/v1", kind: "Service", metadata: { name: "web" } }],
])("left out, and said: %s", (what, manifest) => {
  expect(load(manifest)).toEqual({ objects: [], skipped: [`1 x ${what}`] });
});

test("an endpoint is taken over with nil conditions read as kube-proxy reads them", () => {
  expect(only("Endpoint", slice({ endpoints: [{ addresses: ["10.0.0.1", "10.0.0.2"] }] }))).toEqual(
    [
      {
        kind: "Endpoint",
        namespace: "default",
        name: expect.stringMatching(/^[\da-f]{16}@web-1$/),
        labels: {},
        annotations: {},
        group: "web",
        podName: "",
        source: "web-1",
        addresses: ["10.0.0.1"],
        hostName: "",
        families: [],
        ports: [{ name: "", port: 8080, protocol: "TCP" }],
        node: "",
        zone: "",
        hints: { zones: [], nodes: [] },
        ready: true,
        serving: true,
        terminating: false,
        weight: 1,
        instance: -1,
        needs: [],
      },
    ],
  );
});

test("an endpoint says its pod, node, zone, hints and conditions", () => {
  const endpoint = {
    addresses: ["10.0.0.1"],
    conditions: { ready: false, serving: true, terminating: true },
    nodeName: "n1",
    zone: "a",
    hostname: "web-0",
    targetRef: { kind: "Pod", name: "web-0" },
    hints: { forZones: [{ name: "a" }, { name: "b" }], forNodes: [{ name: "n1" }] },
  };
  expect(only("Endpoint", slice({ endpoints: [endpoint] }))[0]).toMatchObject({
    name: "web-0@web-1",
    podName: "web-0",
    hostName: "",
    families: [],
    node: "n1",
    zone: "a",
    hints: { zones: ["a", "b"], nodes: ["n1"] },
    ready: false,
    serving: true,
    terminating: true,
  });
});

test("only a Pod is a pod", () => {
  const endpoint = { addresses: ["10.0.0.1"], targetRef: { kind: "VirtualMachine", name: "vm" } };
  expect(only("Endpoint", slice({ endpoints: [endpoint] }))[0]?.podName).toBe("");
});

test("one pod in two slices is two endpoints, and so is one with two addresses in one slice", () => {
  const targetRef = { kind: "Pod", name: "web-0" };
  const endpoints = [
    { addresses: ["10.0.0.1"], targetRef },
    { addresses: ["10.0.0.2"], targetRef },
    { addresses: ["10.0.0.2"], targetRef },
  ];
  const v6 = slice(
    { addressType: "IPv6", endpoints: [{ addresses: ["fd00::1"], targetRef }] },
    { name: "web-2" },
  );
  const loaded = only("Endpoint", slice({ endpoints }), v6);
  expect(loaded.map((endpoint) => endpoint.addresses[0])).toEqual([
    "10.0.0.1",
    "10.0.0.2",
    "fd00::1",
  ]);
  expect(new Set(loaded.map((endpoint) => endpoint.name)).size).toBe(3);
});

test("of two records of one address in a slice the one that does not end counts", () => {
  const targetRef = { kind: "Pod", name: "web-a" };
  const ending = {
    addresses: ["10.0.0.1"],
    targetRef,
    conditions: { ready: false, serving: true, terminating: true },
  };
  const ready = { addresses: ["10.0.0.1"], targetRef };
  for (const endpoints of [
    [ending, ready],
    [ready, ending],
  ]) {
    expect(only("Endpoint", slice({ endpoints }))).toMatchObject([{ ready: true }]);
  }
});

test("names stay within 253 characters", () => {
  const targetRef = { kind: "Pod", name: "p".repeat(253) };
  const [loaded] = only("Endpoint", slice({ endpoints: [{ addresses: ["10.0.0.1"], targetRef }] }));
  expect(loaded?.name).toMatch(/^[\da-f]{16}$/);
});

test("a node has its zone, internal addresses first, and its networks", () => {
  const node = {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "n1", labels: { "topology.kubernetes.io/zone": "a" } },
    spec: { podCIDRs: ["10.244.1.7/24"], podCIDR: "10.244.1.0/24" },
    status: {
      addresses: [
        { type: "Hostname", address: "n1" },
        { type: "ExternalIP", address: "203.0.113.1" },
        { type: "InternalIP", address: "192.0.2.1" },
      ],
    },
  };
  expect(only("Node", node)[0]).toMatchObject({
    name: "n1",
    zone: "a",
    addresses: ["192.0.2.1", "203.0.113.1"],
    subnets: ["10.244.1.0/24"],
    alive: true,
    leaving: "",
  });
});

test.each([null, ""])("a node may have %j for what it does not have", (nothing) => {
  const objects = only("Node", {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "n1" },
    spec: { podCIDR: nothing, podCIDRs: null, taints: null },
    status: {
      addresses: [
        { type: "InternalIP", address: nothing },
        { type: "InternalIP", address: "192.0.2.1" },
      ],
    },
  });
  expect(objects).toMatchObject([{ name: "n1", addresses: ["192.0.2.1"], subnets: [] }]);
});

test("lists are read, and typed ones know what their entries are", () => {
  const { apiVersion, kind, ...untyped } = service({});
  const list = { apiVersion, kind: "List", items: [service({}), slice({})] };
  const typed = { apiVersion, kind: `${kind}List`, items: [untyped] };
  expect(load(list).objects.map((object) => object.kind)).toEqual(["Service", "Endpoint"]);
  expect(load(typed).objects).toEqual(load(service({})).objects);
});
