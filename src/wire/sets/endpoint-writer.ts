import type { Protocol } from "../../core/model/common.ts";
import type { Endpoint } from "../../core/model/endpoint.ts";
import type { NodeEndpoint } from "../../core/view/ops.ts";
import type { ProtoWriter } from "../protobuf/proto-writer.ts";
import { ENDPOINT_FIELD, PORT_PROTOCOL_FIELD } from "./endpoint-fields.ts";
import { maskOf, portUseOf } from "./family-mask.ts";
import { writeIpSet, writeOrder } from "./ip-set.ts";
import { PROTOCOL_NUMBER, UNNAMED_TARGET } from "./port-mapping.ts";
import type { Scopes } from "./scopes.ts";
import { EXTENSION_FIELD, EXTENSION_VERSION } from "./set-id.ts";

const DEFAULT_WEIGHT = 1;
const NO_INSTANCE = -1;

/**
 * Writes the fields of `localv1.Endpoint` as the node-local API sends it, under `nodeEndpoint.path`.
 *
 * @param scopes undefined for a client that knows our fields, which say more.
 */
export function writeNodeEndpoint(
  writer: ProtoWriter,
  nodeEndpoint: NodeEndpoint,
  scopes: Scopes | undefined,
): void {
  const { endpoint, ports } = nodeEndpoint;
  writer.string(ENDPOINT_FIELD.hostname, endpoint.hostName);
  writeIpSet(writer, ENDPOINT_FIELD.ips, endpoint.addresses);
  writer.bool(ENDPOINT_FIELD.local, nodeEndpoint.local);
  for (const port of ports) writeOverride(writer, port.name, port.target);
  if (scopes !== undefined) {
    writer.begin(ENDPOINT_FIELD.scopes);
    writer.bool(1, scopes.internal);
    writer.bool(2, scopes.external);
    writer.end();
  }
  writer.uint32(EXTENSION_FIELD, EXTENSION_VERSION);
  if (!endsWithName(nodeEndpoint.path, endpoint.name)) {
    writer.string(ENDPOINT_FIELD.name, endpoint.name);
  }
  if (nodeEndpoint.group !== nodeEndpoint.service) {
    writer.string(ENDPOINT_FIELD.group, nodeEndpoint.group);
  }
  writer.string(ENDPOINT_FIELD.podName, endpoint.podName);
  writer.string(ENDPOINT_FIELD.source, endpoint.source);
  writer.string(ENDPOINT_FIELD.node, endpoint.node);
  writer.string(ENDPOINT_FIELD.zone, endpoint.zone);
  writer.strings(ENDPOINT_FIELD.hintZones, endpoint.hints.zones);
  writer.strings(ENDPOINT_FIELD.hintNodes, endpoint.hints.nodes);
  writer.bool(ENDPOINT_FIELD.notReady, !endpoint.ready);
  writeCommon(writer, endpoint);
  writer.begin(ENDPOINT_FIELD.portUse);
  for (const port of ports) writer.packedItem(portUseOf(port.clusterFor, port.localFor));
  writer.end();
  if (!sameAsUsed(nodeEndpoint)) {
    for (const { name, port } of endpoint.ports) {
      writePort(writer, ENDPOINT_FIELD.ownPorts, name, port);
    }
    writer.bool(ENDPOINT_FIELD.ownPortsDiffer, true);
  }
  writeOrder(writer, ENDPOINT_FIELD.addressOrder, endpoint.addresses);
}

/** Writes the fields of the `localv1.Endpoint` within a `globalv1.EndpointInfo`, which holds the rest. */
export function writeGlobalEndpoint(writer: ProtoWriter, endpoint: Endpoint): void {
  writer.string(ENDPOINT_FIELD.hostname, endpoint.hostName);
  writeIpSet(writer, ENDPOINT_FIELD.ips, endpoint.addresses);
  for (const { name, port, protocol } of endpoint.ports) {
    writeOverride(writer, name, port, protocol);
  }
  writer.uint32(EXTENSION_FIELD, EXTENSION_VERSION);
  writer.string(ENDPOINT_FIELD.name, endpoint.name);
  writer.strings(ENDPOINT_FIELD.hintNodes, endpoint.hints.nodes);
  writeCommon(writer, endpoint);
  writeOrder(writer, ENDPOINT_FIELD.addressOrder, endpoint.addresses);
}

function writeCommon(writer: ProtoWriter, endpoint: Endpoint): void {
  writer.bool(ENDPOINT_FIELD.notServing, !endpoint.serving);
  writer.bool(ENDPOINT_FIELD.terminating, endpoint.terminating);
  if (endpoint.weight !== DEFAULT_WEIGHT) {
    writer.uint32Always(ENDPOINT_FIELD.weight, endpoint.weight);
  }
  if (endpoint.instance !== NO_INSTANCE) {
    writer.uint32Always(ENDPOINT_FIELD.instance, endpoint.instance);
  }
  writer.strings(ENDPOINT_FIELD.needs, endpoint.needs);
  writer.map(ENDPOINT_FIELD.labels, endpoint.labels);
  writer.map(ENDPOINT_FIELD.annotations, endpoint.annotations);
  writer.uint32(ENDPOINT_FIELD.families, maskOf(endpoint.families));
}

/** A port without a name is said twice: see `UNNAMED_TARGET`; some old clients look for "" all the same. */
function writeOverride(writer: ProtoWriter, name: string, port: number, protocol?: Protocol): void {
  writePort(writer, ENDPOINT_FIELD.portOverrides, name, port, protocol);
  if (name === "") writePort(writer, ENDPOINT_FIELD.portOverrides, UNNAMED_TARGET, port);
}

function writePort(
  writer: ProtoWriter,
  field: number,
  name: string,
  port: number,
  protocol?: Protocol,
): void {
  writer.begin(field);
  writer.string(1, name);
  writer.uint32(2, port);
  if (protocol !== undefined) writer.uint32(PORT_PROTOCOL_FIELD, PROTOCOL_NUMBER[protocol]);
  writer.end();
}

function endsWithName(path: string, name: string): boolean {
  return path.endsWith(name) && path[path.length - name.length - 1] === "/";
}

/** Whether the ports that the node uses are just what the endpoint itself says. */
function sameAsUsed({ endpoint, ports }: NodeEndpoint): boolean {
  return (
    endpoint.ports.length === ports.length &&
    endpoint.ports.every((own, index) => {
      const used = ports[index];
      return used !== undefined && own.name === used.name && own.port === used.target;
    })
  );
}
