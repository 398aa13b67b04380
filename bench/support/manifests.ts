import { dump } from "js-yaml";
import { type ClusterSize, hasTrait, type Place, type Pod, placesOf, podsOf } from "./cluster.ts";

/** A Kubernetes object as JSON has it. */
export type Manifest = Readonly<Record<string, unknown>>;

interface Port {
  readonly name: string;
  readonly protocol: string;
  readonly port: number;
}

type AddressType = "IPv4" | "IPv6";

const WEB: Port = { name: "http", protocol: "TCP", port: 80 };
const SECURE_WEB: Port = { name: "https", protocol: "TCP", port: 443 };
const DNS: Port = { name: "dns", protocol: "UDP", port: 53 };
const TARGET_OFFSET = 8000;
const NODE_PORT_BASE = 30_000;
/** Above all node ports, however many services there are. */
const HEALTH_CHECK_BASE = 60_000;

/** Nodes, services and their slices, as `kubectl get -o json` would list them. */
export function createManifests(size: ClusterSize): readonly Manifest[] {
  const manifests = placesOf(size).map(nodeManifest);
  podsOf(size).forEach((pods, service) => {
    manifests.push(serviceManifest(service), sliceManifest(service, pods, "IPv4"));
    if (hasTrait("dualStack", service)) manifests.push(sliceManifest(service, pods, "IPv6"));
  });
  return manifests;
}

export function asJson(manifests: readonly Manifest[]): string {
  return JSON.stringify({ apiVersion: "v1", kind: "List", items: manifests });
}

/** One document an object. */
export function asYaml(manifests: readonly Manifest[]): string {
  return manifests.map((manifest) => dump(manifest)).join("---\n");
}

function nodeManifest({ node, zone }: Place, index: number): Manifest {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      ...identity("node", index),
      name: node,
      labels: { "kubernetes.io/hostname": node, "topology.kubernetes.io/zone": zone },
    },
    spec: { podCIDR: `10.128.${index >> 4}.${(index & 15) << 4}/28` },
    status: {
      addresses: [
        { type: "InternalIP", address: v4("172.16", index) },
        { type: "Hostname", address: node },
      ],
    },
  };
}

function serviceManifest(index: number): Manifest {
  const name = serviceName(index);
  const outside = hasTrait("nodePort", index);
  const balanced = hasTrait("loadBalancer", index);
  const localBalanced = hasTrait("localLoadBalancer", index);
  const local = hasTrait("localExternal", index) || localBalanced;
  const clusterIPs = [v4("10.96", index)];
  if (hasTrait("dualStack", index)) clusterIPs.push(v6("fd00:96", index));
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      ...identity("service", index),
      namespace: namespaceOf(index),
      name,
      labels: { app: name },
    },
    spec: {
      type: balanced ? "LoadBalancer" : outside ? "NodePort" : "ClusterIP",
      clusterIP: clusterIPs[0],
      clusterIPs,
      ipFamilies: clusterIPs.length > 1 ? ["IPv4", "IPv6"] : ["IPv4"],
      selector: { app: name },
      ports: portsOf(index).map((port, number) => ({
        ...port,
        targetPort: port.name,
        ...(outside && { nodePort: NODE_PORT_BASE + Math.floor(index / 5) + number }),
      })),
      internalTrafficPolicy: hasTrait("localInternal", index) ? "Local" : "Cluster",
      ...(outside && { externalTrafficPolicy: local ? "Local" : "Cluster" }),
      ...affinityOf(index),
      ...(hasTrait("zoneHints", index) && { trafficDistribution: "PreferSameZone" }),
      ...(balanced && { loadBalancerSourceRanges: ["10.0.0.0/8", "192.0.2.0/24"] }),
      ...(localBalanced && { healthCheckNodePort: HEALTH_CHECK_BASE + Math.floor(index / 40) }),
    },
    status: { loadBalancer: balanced ? { ingress: [{ ip: v4("198.18", index) }] } : {} },
  };
}

function affinityOf(index: number): Manifest {
  if (!hasTrait("affinity", index)) return { sessionAffinity: "None" };
  return {
    sessionAffinity: "ClientIP",
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } },
  };
}

function sliceManifest(index: number, pods: readonly Pod[], addressType: AddressType): Manifest {
  const service = serviceName(index);
  const namespace = namespaceOf(index);
  const hinted = hasTrait("zoneHints", index);
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      ...identity(`slice-${addressType}`, index),
      namespace,
      name: `${service}-${addressType.toLowerCase()}`,
      labels: { app: service, "kubernetes.io/service-name": service },
    },
    addressType,
    ports: portsOf(index).map(({ name, protocol, port }) => ({
      name,
      protocol,
      port: port + TARGET_OFFSET,
    })),
    endpoints: pods.map(({ name, number, place, condition }) => ({
      addresses: [addressType === "IPv4" ? v4("10.128", number) : v6("fd00:128", number)],
      conditions: {
        ready: condition === "ready",
        serving: condition !== "not-ready",
        terminating: condition === "terminating",
      },
      nodeName: place.node,
      zone: place.zone,
      targetRef: { kind: "Pod", namespace, name, uid: identity("pod", number)["uid"] },
      ...(hinted && { hints: { forZones: [{ name: place.zone }] } }),
    })),
  };
}

function portsOf(index: number): readonly Port[] {
  const first = hasTrait("udp", index) ? DNS : WEB;
  return hasTrait("secondPort", index) ? [first, SECURE_WEB] : [first];
}

function serviceName(index: number): string {
  return `service-${index}`;
}

function namespaceOf(index: number): string {
  return `team-${index % 100}`;
}

/** What every object of a cluster carries and Portolan does not need: it has to be read past. */
function identity(kind: string, index: number): Manifest {
  const digits = `${kind.length}${String(index).padStart(11, "0")}`;
  return {
    uid: `6ba7b810-9dad-4d11-80b4-${digits}`,
    resourceVersion: String(1_000_000 + index),
    creationTimestamp: "2026-01-01T00:00:00Z",
  };
}

/** The address number `index` of a network that begins at `a.b.0.0` and may be larger than /16. */
function v4(network: string, index: number): string {
  const [first = 0, second = 0] = network.split(".").map(Number);
  return `${first}.${second + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`;
}

function v6(network: string, index: number): string {
  return `${network}::${((index >> 16) + 1).toString(16)}:${(index & 0xffff).toString(16)}`;
}
