import type { Family } from "../../core/model/address.ts";
import { familyOf } from "../../core/model/address.ts";
import { EMPTY } from "../../core/model/common.ts";
import type { Service } from "../../core/model/service.ts";
import type { EndingPlace } from "../../core/view/ops.ts";
import type { ProtoWriter } from "../protobuf/proto-writer.ts";
import { maskOf } from "./family-mask.ts";
import { writeIpSet, writeOrder } from "./ip-set.ts";
import { type PortStyle, writePortMapping } from "./port-mapping.ts";
import { EDGE_POLICY_NUMBER, SERVICE_FIELD } from "./service-fields.ts";
import { EXTENSION_FIELD, EXTENSION_VERSION } from "./set-id.ts";

/**
 * Writes the fields of `localv1.Service`.
 *
 * @param usable the families that each port can be used in anywhere, for the node-local API.
 * @param ending the endpoints that terminate and still serve, for the node-local API.
 */
export function writeService(
  writer: ProtoWriter,
  service: Service,
  style: PortStyle,
  usable: readonly (readonly Family[])[],
  ending: readonly EndingPlace[] = EMPTY,
): void {
  writer.string(SERVICE_FIELD.namespace, service.namespace);
  writer.string(SERVICE_FIELD.name, service.name);
  writer.string(SERVICE_FIELD.type, service.type === "Plain" ? "ClusterIP" : service.type);
  writeServiceIps(writer, service);
  for (const port of service.ports) writePortMapping(writer, SERVICE_FIELD.ports, port, style);
  writer.bool(SERVICE_FIELD.externalToLocal, service.externalTrafficPolicy === "Local");
  writer.map(SERVICE_FIELD.labels, service.labels);
  writer.map(SERVICE_FIELD.annotations, service.annotations);
  const filters = writeIpFilters(writer, service);
  writeAffinity(writer, service.affinitySeconds);
  writer.bool(SERVICE_FIELD.internalToLocal, service.internalTrafficPolicy === "Local");
  writer.uint32(SERVICE_FIELD.healthCheckNodePort, service.healthCheckNodePort);
  writer.uint32(EXTENSION_FIELD, EXTENSION_VERSION);
  writeOrder(writer, SERVICE_FIELD.clusterIpOrder, service.clusterIPs);
  writeOrder(writer, SERVICE_FIELD.externalIpOrder, service.externalIPs);
  writeOrder(writer, SERVICE_FIELD.loadBalancerIpOrder, service.loadBalancerIPs);
  if (service.sourceRanges.some((range, index) => range !== filters[index])) {
    writer.strings(SERVICE_FIELD.sourceRangeOrder, service.sourceRanges);
  }
  writer.bool(SERVICE_FIELD.plain, service.type === "Plain");
  writer.string(SERVICE_FIELD.trafficDistribution, service.trafficDistribution);
  writeEdgeIps(writer, service);
  writeGroups(writer, service);
  writer.packed(SERVICE_FIELD.usable, usable.map(maskOf));
  writeEnding(writer, ending);
}

function writeEnding(writer: ProtoWriter, ending: readonly EndingPlace[]): void {
  for (const { portIndex, address, target } of ending) {
    writer.begin(SERVICE_FIELD.ending);
    writer.uint32(1, portIndex);
    writer.string(2, address);
    writer.uint32(3, target);
    writer.end();
  }
}

function writeServiceIps(writer: ProtoWriter, service: Service): void {
  writer.begin(SERVICE_FIELD.ips);
  writeIpSet(writer, 1, service.clusterIPs);
  writeIpSet(writer, 2, service.externalIPs);
  writer.bool(3, isHeadless(service));
  writeIpSet(writer, 4, service.loadBalancerIPs);
  writer.end();
}

/** Nothing that an old client could program leads to it: it passes such a service over. */
function isHeadless(service: Service): boolean {
  return (
    service.clusterIPs.length === 0 &&
    service.externalIPs.length === 0 &&
    service.loadBalancerIPs.length === 0 &&
    service.ports.every((port) => port.nodePort === 0)
  );
}

/**
 * A filter for each family that has ranges, for its own addresses only: ranges of one family say
 * nothing about clients of the other. Returns the ranges in the order in which they were written.
 */
function writeIpFilters(writer: ProtoWriter, service: Service): readonly string[] {
  if (service.sourceRanges.length === 0) return EMPTY;
  const written: string[] = [];
  for (const family of ["v4", "v6"] as const) {
    const ranges = service.sourceRanges.filter((range) => familyOf(range) === family);
    const targets = service.loadBalancerIPs.filter((ip) => familyOf(ip) === family);
    if (ranges.length === 0 || targets.length === 0) continue;
    writer.begin(SERVICE_FIELD.ipFilters);
    writeIpSet(writer, 1, targets);
    writer.strings(2, ranges);
    writer.end();
    written.push(...ranges);
  }
  return written;
}

function writeAffinity(writer: ProtoWriter, seconds: number): void {
  if (seconds === 0) return;
  writer.begin(SERVICE_FIELD.clientIpAffinity);
  writer.uint32(1, seconds);
  writer.end();
}

function writeEdgeIps(writer: ProtoWriter, service: Service): void {
  for (const edge of service.edgeIPs) {
    writer.begin(SERVICE_FIELD.edgeIps);
    writer.string(1, edge.address);
    writer.uint32(2, EDGE_POLICY_NUMBER[edge.policy]);
    if (edge.instance >= 0) writer.uint32(3, edge.instance);
    writer.end();
  }
}

function writeGroups(writer: ProtoWriter, service: Service): void {
  for (const ref of service.groups) {
    writer.begin(SERVICE_FIELD.groups);
    writer.string(1, ref.group);
    writer.uint32(2, ref.weight);
    writer.string(3, ref.hints.host);
    writer.uint32(4, ref.hints.port);
    writer.string(5, ref.hints.path);
    writer.end();
  }
}
