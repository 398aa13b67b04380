import { type Family, familyOf } from "../../core/model/address.ts";
import { EMPTY, NO_STRINGS, PROTOCOLS } from "../../core/model/common.ts";
import {
  type Endpoint,
  type EndpointPort,
  NO_TOPOLOGY,
  supersedes,
  type TopologyHints,
} from "../../core/model/endpoint.ts";
import { hashText } from "../../core/model/hash.ts";
import { isRaw, type Raw, type RawReader } from "../../core/model/raw-reader.ts";
import { decimalIp } from "./decimal-ip.ts";
import { FOR_ANOTHER_PROXY, isForProxy } from "./proxy-name.ts";
import { readMetadata } from "./read-metadata.ts";

const SERVICE_NAME_LABEL = "kubernetes.io/service-name";
const HEADLESS_LABEL = "service.kubernetes.io/headless";

const MAX_NAME_LENGTH = 253;

/** What all endpoints of a slice have in common. */
interface Slice {
  readonly namespace: string;
  readonly name: string;
  readonly service: string;
  readonly family: Family;
  readonly ports: readonly EndpointPort[];
}

export interface SliceContent {
  readonly namespace: string;
  readonly name: string;
  readonly endpoints: readonly Endpoint[];
  /** Why a proxy has nothing to do for it, in words; empty where it has. */
  readonly skipped: string;
}

/**
 * Reads a discovery.k8s.io/v1 EndpointSlice by kube-proxy's rules.
 * @param proxyName which proxy is asking; empty: the one of services that name none
 */
export function readEndpointSlice(reader: RawReader, raw: Raw, proxyName = ""): SliceContent {
  const { namespace, name, labels } = readMetadata(reader, raw);
  const skip = (skipped: string): SliceContent => ({ namespace, name, endpoints: EMPTY, skipped });
  const service = labels[SERVICE_NAME_LABEL] ?? "";
  if (service === "") return skip(`without the label ${SERVICE_NAME_LABEL}`);
  if (labels[HEADLESS_LABEL] !== undefined) return skip("of a headless service");
  if (!isForProxy(labels, proxyName)) return skip(FOR_ANOTHER_PROXY);
  const type = reader.oneOf(raw, "addressType", ["IPv4", "IPv6", "FQDN"], "IPv4");
  if (type === "FQDN") return skip("of host names");
  const ports = readPorts(reader, raw);
  // To the model an endpoint without ports serves the target ports; to kube-proxy it serves nothing.
  if (ports.length === 0) return skip("without a port that has both a name and a number");
  const family = type === "IPv4" ? "v4" : "v6";
  const slice: Slice = { namespace, name, service: reader.intern(service), family, ports };
  return { namespace, name, endpoints: readEndpoints(reader, raw, slice), skipped: "" };
}

function readPorts(reader: RawReader, raw: Raw): readonly EndpointPort[] {
  const ports: EndpointPort[] = [];
  reader.each(raw, "ports", (item) => {
    const name = item["name"] ?? undefined;
    const port = reader.optionalPort(item, "port");
    if (name === undefined || port === 0) return;
    const protocol = reader.oneOf(item, "protocol", PROTOCOLS, "TCP");
    ports.push({ name: reader.intern(reader.string(item, "name")), port, protocol });
  });
  return ports;
}

function readEndpoints(reader: RawReader, raw: Raw, slice: Slice): readonly Endpoint[] {
  const endpoints = new Map<string, Endpoint>();
  reader.each(raw, "endpoints", (item) => {
    const address = readAddress(reader, item, slice.family);
    if (address === undefined) return;
    const podName = readPodName(item);
    let name = endpointName(podName, slice, address);
    let other = endpoints.get(name);
    // A pod that is listed twice has two addresses; one that is listed with the same address is one.
    if (other !== undefined && other.addresses[0] !== address) {
      name = endpointName("", slice, address);
      other = endpoints.get(name);
    }
    const endpoint = readEndpoint(reader, item, slice, { name, podName, address });
    if (other === undefined || supersedes(endpoint, other)) endpoints.set(name, endpoint);
  });
  return [...endpoints.values()];
}

function readEndpoint(
  reader: RawReader,
  item: Raw,
  slice: Slice,
  {
    name,
    podName,
    address,
  }: { readonly name: string; readonly podName: string; readonly address: string },
): Endpoint {
  const conditions = reader.object(item, "conditions");
  return {
    kind: "Endpoint",
    namespace: slice.namespace,
    name,
    labels: NO_STRINGS,
    annotations: NO_STRINGS,
    group: slice.service,
    podName,
    source: slice.name,
    addresses: [address],
    hostName: "",
    families: EMPTY,
    ports: slice.ports,
    node: reader.intern(reader.string(item, "nodeName")),
    zone: reader.intern(reader.string(item, "zone")),
    hints: readHints(reader, item),
    ready: reader.boolean(conditions, "ready", true),
    serving: reader.boolean(conditions, "serving", true),
    terminating: reader.boolean(conditions, "terminating", false),
    weight: 1,
    instance: -1,
    needs: EMPTY,
  };
}

/** The first address only: that the others mean the same endpoint was never defined. */
function readAddress(reader: RawReader, item: Raw, family: Family): string | undefined {
  const [first] = reader.list(item, "addresses");
  reader.enter("addresses");
  const ip = reader.ip(0, decimalIp(first));
  if (ip !== undefined && familyOf(ip) !== family) {
    reader.fail(0, first, `an ${family === "v4" ? "IPv4" : "IPv6"} address, as addressType says`);
  }
  reader.leave();
  return ip;
}

function readPodName(item: Raw): string {
  const target = item["targetRef"];
  if (!isRaw(target) || target["kind"] !== "Pod") return "";
  return typeof target["name"] === "string" ? target["name"] : "";
}

/** Unique also where a pod is in several slices (dual stack, several ports): `web-1@web-x7k2p`. */
function endpointName(podName: string, slice: Slice, address: string): string {
  const own = podName === "" ? hashText(`${slice.name} ${address}`) : podName;
  const name = `${own}@${slice.name}`;
  return name.length <= MAX_NAME_LENGTH ? name : hashText(name);
}

function readHints(reader: RawReader, item: Raw): TopologyHints {
  const hints = item["hints"] ?? undefined;
  if (hints === undefined) return NO_TOPOLOGY;
  const raw = reader.object(item, "hints");
  reader.enter("hints");
  const read = {
    zones: readNames(reader, raw, "forZones"),
    nodes: readNames(reader, raw, "forNodes"),
  };
  reader.leave();
  return read.zones.length + read.nodes.length === 0 ? NO_TOPOLOGY : read;
}

function readNames(reader: RawReader, raw: Raw, key: string): readonly string[] {
  const names: string[] = [];
  reader.each(raw, key, (item) => names.push(reader.intern(reader.name(item, "name"))));
  return names.length === 0 ? EMPTY : names;
}
