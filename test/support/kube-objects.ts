import type { KubeObject } from "./kube-server.ts";

/** What `kubectl` and controllers leave on every object and no proxy needs. */
const NOISE = {
  "kubectl.kubernetes.io/last-applied-configuration": '{"apiVersion":"v1"}',
};

export function kubeService(name: string, index: number, spec: object = {}): KubeObject {
  return {
    kind: "Service",
    apiVersion: "v1",
    metadata: { namespace: "shop", name, labels: { app: name }, annotations: NOISE },
    spec: {
      type: "ClusterIP",
      clusterIP: `10.96.0.${index}`,
      clusterIPs: [`10.96.0.${index}`],
      ports: [{ name: "http", protocol: "TCP", port: 80, targetPort: 8080 }],
      selector: { app: name },
      sessionAffinity: "None",
      internalTrafficPolicy: "Cluster",
      ...spec,
    },
    status: { loadBalancer: {} },
  };
}

export function kubeSlice(
  service: string,
  name: string,
  addresses: readonly string[],
  labels: Readonly<Record<string, string>> = {},
): KubeObject {
  return {
    kind: "EndpointSlice",
    apiVersion: "discovery.k8s.io/v1",
    metadata: {
      namespace: "shop",
      name,
      labels: { "kubernetes.io/service-name": service, ...labels },
      annotations: { "endpoints.kubernetes.io/last-change-trigger-time": "2026-01-01T00:00:00Z" },
    },
    addressType: "IPv4",
    ports: [{ name: "http", protocol: "TCP", port: 8080 }],
    endpoints: addresses.map((address) => ({
      addresses: [address],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: "node-a",
      zone: "zone-a",
      targetRef: { kind: "Pod", namespace: "shop", name: `pod-${address.replaceAll(".", "-")}` },
    })),
  };
}

export function kubeNode(name: string, more: object = {}): KubeObject {
  return {
    kind: "Node",
    apiVersion: "v1",
    metadata: {
      name,
      labels: {
        "kubernetes.io/hostname": name,
        "topology.kubernetes.io/zone": "zone-a",
        "example.com/noise": "yes",
      },
    },
    spec: { podCIDR: "10.244.1.0/24" },
    status: { addresses: [{ type: "InternalIP", address: "192.0.2.1" }] },
    ...more,
  };
}
