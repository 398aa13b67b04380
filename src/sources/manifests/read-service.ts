import { parseCidr } from "../../core/model/address.ts";
import { EMPTY, NO_STRINGS, PROTOCOLS, type StringMap } from "../../core/model/common.ts";
import { isRaw, type Raw, type RawReader } from "../../core/model/raw-reader.ts";
import type { Service, ServicePort, ServiceType, TrafficPolicy } from "../../core/model/service.ts";
import { decimalIp } from "./decimal-ip.ts";
import { FOR_ANOTHER_PROXY, isForProxy } from "./proxy-name.ts";
import { type Metadata, readMetadata } from "./read-metadata.ts";

/** What `kubectl apply` leaves behind: the object once more, as text. */
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

const DEFAULT_AFFINITY_SECONDS = 10_800;
const MAX_AFFINITY_SECONDS = 86_400;

const TYPES = ["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"] as const;
const POLICIES: readonly TrafficPolicy[] = ["Cluster", "Local"];

/**
 * Reads a v1 Service, or says in words why a proxy has nothing to do for it.
 * @param proxyName which proxy is asking; empty: the one of services that name none
 */
export function readService(reader: RawReader, raw: Raw, proxyName = ""): Service | string {
  const metadata = readMetadata(reader, raw);
  const spec = reader.object(raw, "spec");
  reader.enter("spec");
  const type = reader.oneOf(spec, "type", TYPES, "ClusterIP");
  const idle = isForProxy(metadata.labels, proxyName)
    ? reasonToSkip(type, spec)
    : FOR_ANOTHER_PROXY;
  const service =
    idle === undefined && type !== "ExternalName"
      ? readSpec(reader, metadata, type, spec)
      : undefined;
  reader.leave();
  if (service === undefined) return idle ?? type;
  const loadBalancerIPs = readIngress(reader, raw);
  return loadBalancerIPs.length === 0 ? service : { ...service, loadBalancerIPs };
}

function reasonToSkip(type: string, spec: Raw): string | undefined {
  if (type === "ExternalName") return "of type ExternalName";
  const [first = spec["clusterIP"]] = Array.isArray(spec["clusterIPs"]) ? spec["clusterIPs"] : [];
  if (first === "None") return "headless";
  return (first ?? "") === "" ? "without a cluster IP" : undefined;
}

function readSpec(
  reader: RawReader,
  { namespace, name, labels, annotations }: Metadata,
  type: ServiceType,
  spec: Raw,
): Service {
  const externalTrafficPolicy = reader.oneOf(spec, "externalTrafficPolicy", POLICIES, "Cluster");
  const checksHealth = type === "LoadBalancer" && externalTrafficPolicy === "Local";
  return {
    kind: "Service",
    namespace,
    name,
    labels,
    annotations: withoutLastApplied(annotations),
    type,
    clusterIPs: readClusterIPs(reader, spec),
    externalIPs: readIps(reader, spec, "externalIPs"),
    loadBalancerIPs: EMPTY,
    edgeIPs: EMPTY,
    ports: readPorts(reader, spec),
    internalTrafficPolicy: reader.oneOf(spec, "internalTrafficPolicy", POLICIES, "Cluster"),
    externalTrafficPolicy,
    affinitySeconds: readAffinity(reader, spec),
    sourceRanges: readSourceRanges(reader, spec),
    healthCheckNodePort: checksHealth ? reader.optionalPort(spec, "healthCheckNodePort") : 0,
    trafficDistribution: reader.string(spec, "trafficDistribution"),
    groups: EMPTY,
  };
}

function withoutLastApplied(annotations: StringMap): StringMap {
  if (annotations[LAST_APPLIED] === undefined) return annotations;
  const { [LAST_APPLIED]: _, ...others } = annotations;
  return Object.keys(others).length === 0 ? NO_STRINGS : others;
}

function readClusterIPs(reader: RawReader, spec: Raw): readonly string[] {
  if (reader.list(spec, "clusterIPs").length > 0) return readIps(reader, spec, "clusterIPs");
  const ip = reader.ip("clusterIP", decimalIp(spec["clusterIP"]));
  return ip === undefined ? EMPTY : [ip];
}

function readIps(reader: RawReader, spec: Raw, key: string): readonly string[] {
  const values = reader.list(spec, key);
  return values.length === 0 ? EMPTY : reader.ips({ [key]: values.map(decimalIp) }, key);
}

function readPorts(reader: RawReader, spec: Raw): readonly ServicePort[] {
  const ports: ServicePort[] = [];
  reader.each(spec, "ports", (raw) => {
    const port = readPort(reader, raw);
    if (ports.some((other) => other.name === port.name)) {
      reader.fail("name", port.name, "a name that no other port of the service has");
    }
    const isTwice = ports.some(
      (other) => other.port === port.port && other.protocol === port.protocol,
    );
    if (isTwice && port.port !== 0) {
      reader.fail("port", port.port, `only one port entry for ${port.protocol}/${port.port}`);
    }
    ports.push(port);
  });
  return ports;
}

function readPort(reader: RawReader, raw: Raw): ServicePort {
  const port = reader.port(raw, "port");
  const target = raw["targetPort"] ?? port;
  const isNamed = typeof target === "string" && target !== "";
  return {
    name: reader.intern(reader.string(raw, "name")),
    protocol: reader.oneOf(raw, "protocol", PROTOCOLS, "TCP"),
    port,
    nodePort: reader.optionalPort(raw, "nodePort"),
    targetPort: isNamed ? 0 : reader.optionalPort(raw, "targetPort") || port,
    targetPortName: isNamed ? reader.intern(target) : "",
  };
}

function readAffinity(reader: RawReader, spec: Raw): number {
  if (reader.oneOf(spec, "sessionAffinity", ["None", "ClientIP"], "None") === "None") return 0;
  const config = reader.object(spec, "sessionAffinityConfig");
  const clientIP = isRaw(config["clientIP"]) ? config["clientIP"] : {};
  const seconds = clientIP["timeoutSeconds"] ?? DEFAULT_AFFINITY_SECONDS;
  if (
    Number.isInteger(seconds) &&
    Number(seconds) >= 1 &&
    Number(seconds) <= MAX_AFFINITY_SECONDS
  ) {
    return Number(seconds);
  }
  reader.enter("sessionAffinityConfig");
  reader.enter("clientIP");
  reader.fail("timeoutSeconds", seconds, `a whole number from 1 to ${MAX_AFFINITY_SECONDS}`);
  reader.leave();
  reader.leave();
  return DEFAULT_AFFINITY_SECONDS;
}

function readSourceRanges(reader: RawReader, spec: Raw): readonly string[] {
  const key = "loadBalancerSourceRanges";
  const values = reader.list(spec, key);
  if (values.length === 0) return EMPTY;
  reader.enter(key);
  const ranges = values.flatMap((value, index) => {
    const text = typeof value === "string" ? decimalIp(value.trim()) : undefined;
    const range = typeof text === "string" ? parseCidr(text) : undefined;
    if (range === undefined) reader.fail(index, value, "a network such as 10.0.0.0/8 or fd00::/8");
    return range?.text ?? [];
  });
  reader.leave();
  return ranges;
}

/** The load balancer's addresses that arrive here as they are; those in mode Proxy never do. */
function readIngress(reader: RawReader, raw: Raw): readonly string[] {
  const status = reader.object(raw, "status");
  if (status["loadBalancer"] === undefined) return EMPTY;
  const ips: string[] = [];
  reader.enter("status");
  const loadBalancer = reader.object(status, "loadBalancer");
  reader.enter("loadBalancer");
  reader.each(loadBalancer, "ingress", (ingress) => {
    if ((ingress["ip"] ?? "") === "" || (ingress["ipMode"] ?? "VIP") !== "VIP") return;
    const ip = reader.ip("ip", decimalIp(ingress["ip"]));
    if (ip !== undefined) ips.push(ip);
  });
  reader.leave();
  reader.leave();
  return ips.length === 0 ? EMPTY : ips;
}
