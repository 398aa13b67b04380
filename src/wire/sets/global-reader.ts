import { EMPTY } from "../../core/model/common.ts";
import type { Endpoint } from "../../core/model/endpoint.ts";
import type { Node, Tunnel } from "../../core/model/node.ts";
import type { Service } from "../../core/model/service.ts";
import type { ProtoReader } from "../protobuf/proto-reader.ts";
import { checkedCidr, checkedIp, checkedName, refused } from "./checks.ts";
import { type EndpointMessage, emptyEndpointMessage, readEndpoint } from "./endpoint-reader.ts";
import { endpointOf } from "./endpoint-value.ts";
import { ENDPOINT_INFO_FIELD, NODE_FIELD } from "./global-fields.ts";

import { readService } from "./service-reader.ts";
import { orEmpty, stringMap } from "./shared-empties.ts";

const ZONE_LABEL = "topology.kubernetes.io/zone";

/** Reads a `globalv1.ServiceInfo`. */
export function readServiceInfo(reader: ProtoReader): Service {
  let service: Service | undefined;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field !== 2) {
      reader.skip();
      continue;
    }
    const outer = reader.enter();
    service = readService(reader).service;
    reader.leave(outer);
  }
  if (service === undefined) throw refused("ServiceInfo.Service", undefined, "a service");
  return service;
}

/** What `globalv1.EndpointInfo` says around the endpoint. */
interface EndpointInfo {
  namespace: string;
  sourceName: string;
  serviceName: string;
  podName: string;
  ready: boolean;
  topology: Topology;
  hintZones: readonly string[];
  message: EndpointMessage | undefined;
}

interface Topology {
  readonly node: string;
  readonly zone: string;
}

const NO_PLACE: Topology = { node: "", zone: "" };

/**
 * Reads a `globalv1.EndpointInfo`.
 *
 * @param rowKey the last part of its path, which names it where its sender does not know our fields.
 */
export function readEndpointInfo(reader: ProtoReader, rowKey: string): Endpoint {
  const info: EndpointInfo = {
    namespace: "",
    sourceName: "",
    serviceName: "",
    podName: "",
    ready: true,
    topology: NO_PLACE,
    hintZones: EMPTY,
    message: undefined,
  };
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    readInfoField(reader, field, info);
  }
  const { message } = info;
  if (message === undefined) throw refused("EndpointInfo.Endpoint", undefined, "an endpoint");
  message.podName = info.podName;
  message.source = info.sourceName;
  message.ready = info.ready;
  message.node = info.topology.node;
  message.zone = info.topology.zone;
  message.hintZones = info.hintZones;
  const name = message.name === "" ? foreignName(info, rowKey) : message.name;
  return endpointOf(
    {
      namespace: checkedName("EndpointInfo.Namespace", info.namespace),
      group: checkedName("EndpointInfo.ServiceName", info.serviceName),
      name,
    },
    message,
  );
}

/** A pod may be in several slices, so its name alone is not enough; without a pod the row names it. */
function foreignName({ podName, sourceName }: EndpointInfo, rowKey: string): string {
  const name = podName === "" ? rowKey : podName;
  return sourceName === "" ? name : `${name}@${sourceName}`;
}

function readInfoField(reader: ProtoReader, field: number, info: EndpointInfo): void {
  switch (field) {
    case ENDPOINT_INFO_FIELD.namespace:
      info.namespace = reader.string();
      return;
    case ENDPOINT_INFO_FIELD.sourceName:
      info.sourceName = reader.string();
      return;
    case ENDPOINT_INFO_FIELD.serviceName:
      info.serviceName = reader.string();
      return;
    case ENDPOINT_INFO_FIELD.endpoint: {
      const outer = reader.enter();
      info.message = readEndpoint(reader, emptyEndpointMessage());
      reader.leave(outer);
      return;
    }
    case ENDPOINT_INFO_FIELD.conditions:
      info.ready = readReady(reader);
      return;
    case ENDPOINT_INFO_FIELD.podName:
      info.podName = reader.string();
      return;
    case ENDPOINT_INFO_FIELD.topology:
      info.topology = readTopology(reader);
      return;
    case ENDPOINT_INFO_FIELD.hints:
      info.hintZones = orEmpty(readHintZones(reader));
      return;
    default:
      reader.skip();
  }
}

function readReady(reader: ProtoReader): boolean {
  const outer = reader.enter();
  let ready = false;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) ready = reader.bool();
    else reader.skip();
  }
  reader.leave(outer);
  return ready;
}

function readTopology(reader: ProtoReader): Topology {
  const outer = reader.enter();
  let node = "";
  let zone = "";
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) node = reader.string();
    else if (field === 2) zone = reader.string();
    else reader.skip();
  }
  reader.leave(outer);
  return { node, zone };
}

function readHintZones(reader: ProtoReader): readonly string[] {
  const outer = reader.enter();
  const zones: string[] = [];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) zones.push(reader.string());
    else reader.skip();
  }
  reader.leave(outer);
  return zones;
}

/** Reads a `globalv1.NodeInfo`. */
export function readNodeInfo(reader: ProtoReader): Node {
  let node: Node | undefined;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field !== 2) {
      reader.skip();
      continue;
    }
    const outer = reader.enter();
    node = readNode(reader);
    reader.leave(outer);
  }
  if (node === undefined) throw refused("NodeInfo.Node", undefined, "a node");
  return node;
}

function readNode(reader: ProtoReader): Node {
  let name = "";
  let zone = "";
  let tunnel: Tunnel | undefined;
  let dead = false;
  let leaving = "";
  const labels = new Map<string, string>();
  const annotations = new Map<string, string>();
  const addresses: string[] = [];
  const subnets: string[] = [];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    switch (field) {
      case NODE_FIELD.name:
        name = reader.string();
        break;
      case NODE_FIELD.labels:
        reader.entryInto(labels);
        break;
      case NODE_FIELD.annotations:
        reader.entryInto(annotations);
        break;
      case NODE_FIELD.topology:
        ({ zone } = readTopology(reader));
        break;
      case NODE_FIELD.addresses:
        addresses.push(checkedIp("Node.Addresses", reader.string()));
        break;
      case NODE_FIELD.subnets:
        subnets.push(checkedCidr("Node.Subnets", reader.string()));
        break;
      case NODE_FIELD.tunnel:
        tunnel = readTunnel(reader);
        break;
      case NODE_FIELD.dead:
        dead = reader.bool();
        break;
      case NODE_FIELD.leaving:
        leaving = reader.string();
        break;
      default:
        reader.skip();
    }
  }
  return {
    kind: "Node",
    name: checkedName("Node.Name", name),
    labels: stringMap(labels),
    annotations: stringMap(annotations),
    addresses: orEmpty(addresses),
    zone: zone === "" ? (labels.get(ZONE_LABEL) ?? "") : zone,
    subnets: orEmpty(subnets),
    tunnel,
    alive: !dead,
    leaving,
  };
}

function readTunnel(reader: ProtoReader): Tunnel {
  const outer = reader.enter();
  let address = "";
  let publicKey = "";
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) address = reader.string();
    else if (field === 2) publicKey = reader.string();
    else reader.skip();
  }
  reader.leave(outer);
  return { address, publicKey };
}
