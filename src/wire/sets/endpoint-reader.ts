import { EMPTY, NO_STRINGS, type Protocol, type StringMap } from "../../core/model/common.ts";
import type { EndpointPort } from "../../core/model/endpoint.ts";
import type { ProtoReader } from "../protobuf/proto-reader.ts";
import { checkedIp, checkedPort } from "./checks.ts";
import { ENDPOINT_FIELD, PORT_PROTOCOL_FIELD } from "./endpoint-fields.ts";
import { readIpSet } from "./ip-set.ts";
import { PROTOCOL_BY_NUMBER, UNNAMED_TARGET } from "./port-mapping.ts";
import { SCOPES, type Scopes } from "./scopes.ts";
import { EXTENSION_FIELD } from "./set-id.ts";
import { stringMap } from "./shared-empties.ts";

/** What `localv1.Endpoint` says, with the defaults for a sender that does not know our fields. */
export interface EndpointMessage {
  hostName: string;
  addresses: readonly string[];
  local: boolean;
  /** Without the target name that stands for "no name". */
  portOverrides: readonly EndpointPort[];
  /** Both, where the sender says none. */
  scopes: Scopes;
  /** 0 where the sender does not know our fields. */
  extension: number;
  /** Empty: the last part of the path. */
  name: string;
  /** Empty: the key of the service. */
  group: string;
  podName: string;
  source: string;
  node: string;
  zone: string;
  hintZones: readonly string[];
  hintNodes: readonly string[];
  ready: boolean;
  serving: boolean;
  terminating: boolean;
  weight: number;
  instance: number;
  needs: readonly string[];
  labels: StringMap;
  annotations: StringMap;
  /** How the node uses each of `portOverrides`. */
  portUse: readonly number[];
  ownPorts: readonly EndpointPort[];
  ownPortsDiffer: boolean;
  addressOrder: readonly string[];
  /** As bits; 0: all. */
  families: number;
}

/** Room for `readEndpoint`, which may be used again and again. */
export function emptyEndpointMessage(): EndpointMessage {
  return {
    hostName: "",
    addresses: EMPTY,
    local: false,
    portOverrides: EMPTY,
    scopes: SCOPES[3],
    extension: 0,
    name: "",
    group: "",
    podName: "",
    source: "",
    node: "",
    zone: "",
    hintZones: EMPTY,
    hintNodes: EMPTY,
    ready: true,
    serving: true,
    terminating: false,
    weight: 1,
    instance: -1,
    needs: EMPTY,
    labels: NO_STRINGS,
    annotations: NO_STRINGS,
    portUse: EMPTY,
    ownPorts: EMPTY,
    ownPortsDiffer: false,
    addressOrder: EMPTY,
    families: 0,
  };
}

/** Reads the rest of the reader's current message as a `localv1.Endpoint` into `message`. */
export function readEndpoint(reader: ProtoReader, message: EndpointMessage): EndpointMessage {
  setDefaults(message);
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field < EXTENSION_FIELD) readField(reader, field, message);
    else readOwnField(reader, field, message);
  }
  return message;
}

/** One by one: many times quicker than `Object.assign`, and it is done for every endpoint. */
function setDefaults(message: EndpointMessage): void {
  message.hostName = "";
  message.addresses = EMPTY;
  message.local = false;
  message.portOverrides = EMPTY;
  message.scopes = SCOPES[3];
  message.extension = 0;
  message.name = "";
  message.group = "";
  message.podName = "";
  message.source = "";
  message.node = "";
  message.zone = "";
  message.hintZones = EMPTY;
  message.hintNodes = EMPTY;
  message.ready = true;
  message.serving = true;
  message.terminating = false;
  message.weight = 1;
  message.instance = -1;
  message.needs = EMPTY;
  message.labels = NO_STRINGS;
  message.annotations = NO_STRINGS;
  message.portUse = EMPTY;
  message.ownPorts = EMPTY;
  message.ownPortsDiffer = false;
  message.addressOrder = EMPTY;
  message.families = 0;
}

function readField(reader: ProtoReader, field: number, message: EndpointMessage): void {
  switch (field) {
    case ENDPOINT_FIELD.hostname:
      message.hostName = reader.string();
      return;
    case ENDPOINT_FIELD.ips:
      message.addresses = readIpSet(reader, "Endpoint.IPs");
      return;
    case ENDPOINT_FIELD.local:
      message.local = reader.bool();
      return;
    case ENDPOINT_FIELD.portOverrides: {
      const port = readPort(reader);
      if (port.name !== UNNAMED_TARGET) {
        message.portOverrides = appended(message.portOverrides, port);
      }
      return;
    }
    case ENDPOINT_FIELD.scopes:
      message.scopes = readScopes(reader);
      return;
    default:
      reader.skip();
  }
}

function readOwnField(reader: ProtoReader, field: number, message: EndpointMessage): void {
  switch (field) {
    case EXTENSION_FIELD:
      message.extension = reader.uint32();
      return;
    case ENDPOINT_FIELD.name:
      message.name = reader.string();
      return;
    case ENDPOINT_FIELD.group:
      message.group = reader.string();
      return;
    case ENDPOINT_FIELD.podName:
      message.podName = reader.string();
      return;
    case ENDPOINT_FIELD.source:
      message.source = reader.string();
      return;
    case ENDPOINT_FIELD.node:
      message.node = reader.string();
      return;
    case ENDPOINT_FIELD.zone:
      message.zone = reader.string();
      return;
    case ENDPOINT_FIELD.hintZones:
      message.hintZones = appended(message.hintZones, reader.string());
      return;
    case ENDPOINT_FIELD.hintNodes:
      message.hintNodes = appended(message.hintNodes, reader.string());
      return;
    case ENDPOINT_FIELD.portUse:
      message.portUse = numbersAfter(message.portUse, reader);
      return;
    case ENDPOINT_FIELD.ownPorts:
      message.ownPorts = appended(message.ownPorts, readPort(reader));
      return;
    case ENDPOINT_FIELD.ownPortsDiffer:
      message.ownPortsDiffer = reader.bool();
      return;
    case ENDPOINT_FIELD.addressOrder:
      message.addressOrder = appended(
        message.addressOrder,
        checkedIp("Endpoint.AddressOrder", reader.string()),
      );
      return;
    default:
      readRareField(reader, field, message);
  }
}

/** What most endpoints leave at its default. */
function readRareField(reader: ProtoReader, field: number, message: EndpointMessage): void {
  switch (field) {
    case ENDPOINT_FIELD.notReady:
      message.ready = !reader.bool();
      return;
    case ENDPOINT_FIELD.notServing:
      message.serving = !reader.bool();
      return;
    case ENDPOINT_FIELD.terminating:
      message.terminating = reader.bool();
      return;
    case ENDPOINT_FIELD.weight:
      message.weight = reader.uint32();
      return;
    case ENDPOINT_FIELD.instance:
      message.instance = reader.int32();
      return;
    case ENDPOINT_FIELD.needs:
      message.needs = appended(message.needs, reader.string());
      return;
    case ENDPOINT_FIELD.labels:
      message.labels = withEntry(message.labels, reader);
      return;
    case ENDPOINT_FIELD.families:
      message.families = reader.uint32();
      return;
    case ENDPOINT_FIELD.annotations:
      message.annotations = withEntry(message.annotations, reader);
      return;
    default:
      reader.skip();
  }
}

function readPort(reader: ProtoReader): EndpointPort {
  const outer = reader.enter();
  let name = "";
  let port = 0;
  let protocol: Protocol | undefined;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) name = reader.string();
    else if (field === 2) port = reader.int32();
    else if (field === PORT_PROTOCOL_FIELD) protocol = PROTOCOL_BY_NUMBER[reader.uint32()];
    else reader.skip();
  }
  reader.leave(outer);
  const checked = checkedPort("PortName.Port", port);
  return protocol === undefined ? { name, port: checked } : { name, port: checked, protocol };
}

function readScopes(reader: ProtoReader): Scopes {
  const outer = reader.enter();
  let internal = false;
  let external = false;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) internal = reader.bool();
    else if (field === 2) external = reader.bool();
    else reader.skip();
  }
  reader.leave(outer);
  if (internal) return external ? SCOPES[3] : SCOPES[1];
  return external ? SCOPES[2] : SCOPES[0];
}

/** Nearly all of these lists have one item or none. */
function appended<T>(list: readonly T[], item: T): readonly T[] {
  return list.length === 0 ? [item] : [...list, item];
}

function numbersAfter(before: readonly number[], reader: ProtoReader): readonly number[] {
  const numbers = [...before];
  reader.numbersInto(numbers);
  return numbers;
}

function withEntry(map: StringMap, reader: ProtoReader): StringMap {
  const entries = new Map(Object.entries(map));
  reader.entryInto(entries);
  return stringMap(entries);
}
