import { formatHostPort } from "../../core/model/address.ts";
import type { Endpoint } from "../../core/model/endpoint.ts";
import type { Listener } from "../../core/model/listener.ts";
import { type Kind, keyOf, type ObjectOf } from "../../core/model/object.ts";
import type { Service, ServicePort } from "../../core/model/service.ts";
import { formatPlace, isSocketPath } from "../../core/model/socket-path.ts";
import type { Column } from "../text/render-table.ts";

/** How objects of a kind are told in a line. */
export interface ObjectColumns<K extends Kind> {
  /** Beside the name and the owner. */
  readonly columns: readonly Column[];
  cells(object: ObjectOf<K>): readonly string[];
}

const DEFAULT_NAMESPACE = "default/";
/** Stands for no group at all; nobody can type it. */
const NO_GROUP = "default/(none)";

/** As people type it. */
export function shortName(key: string): string {
  return key.startsWith(DEFAULT_NAMESPACE) ? key.slice(DEFAULT_NAMESPACE.length) : key;
}

const number = (title: string): Column => ({ title, isNumber: true });
const text = (title: string): Column => ({ title });
const list = (parts: readonly (string | number)[]): string => parts.join(",");

export const OBJECT_COLUMNS: { readonly [K in Kind]: ObjectColumns<K> } = {
  Service: {
    columns: ["TYPE", "ADDRESSES", "PORTS", "GROUPS"].map(text),
    cells: (service) => [
      service.type,
      list(addressesOf(service)),
      list(service.type === "Plain" ? [] : service.ports.map(portText)),
      list(groupsText(service)),
    ],
  },
  Listener: {
    columns: ["ADDRESS", "MODE", "SERVICE", "TLS"].map(text),
    cells: (listener) => [
      placeOf(listener),
      listener.mode,
      shortName(listener.service),
      list((listener.tls?.certificates ?? []).map(shortName)),
    ],
  },
  Group: {
    columns: ["METHOD", "CHECK", "EVERY"].map(text),
    cells: ({ method, healthCheck }) => [
      method,
      healthCheck.protocol,
      healthCheck.protocol === "none" ? "" : `${healthCheck.intervalMs} ms`,
    ],
  },
  Endpoint: {
    columns: [text("ADDRESS"), number("WEIGHT"), text("READY"), text("NODE")],
    cells: (endpoint) => [
      serverAddress(endpoint),
      String(endpoint.weight),
      endpoint.ready ? "yes" : "no",
      endpoint.node,
    ],
  },
  Node: {
    columns: ["ADDRESSES", "ZONE", "ALIVE"].map(text),
    cells: ({ addresses, zone, alive }) => [list(addresses), zone, alive ? "yes" : "no"],
  },
  SecurityGroup: {
    columns: [text("DEFAULT"), number("RULES")],
    cells: ({ defaultAccess, rules }) => [defaultAccess, String(rules.length)],
  },
  Certificate: {
    columns: ["CERTIFICATE", "KEY"].map(text),
    cells: ({ certFiles, keyFile }) => [list(certFiles), keyFile],
  },
};

export function nameOf<K extends Kind>(object: ObjectOf<K>): string {
  return shortName(keyOf(object));
}

function placeOf({ address, port }: Listener): string {
  return formatPlace(address, port);
}

function serverAddress({ addresses, hostName, ports }: Endpoint): string {
  const hosts = addresses.length > 0 ? addresses : [hostName];
  if (isSocketPath(hostName)) return formatPlace(hostName, 0);
  const [only, ...others] = ports;
  if (only !== undefined && others.length === 0) {
    return list(hosts.map((host) => formatHostPort(host, only.port)));
  }
  return list([...hosts, ...ports.map(({ name, port }) => `${name}=${port}`)]);
}

function addressesOf(service: Service): readonly string[] {
  const edge = service.edgeIPs.map(({ address }) => address);
  return [...service.clusterIPs, ...service.externalIPs, ...service.loadBalancerIPs, ...edge];
}

function portText({ port, protocol, nodePort }: ServicePort): string {
  const node = nodePort === 0 ? "" : `@${nodePort}`;
  return `${port}/${protocol.toLowerCase()}${node}`;
}

function groupsText({ groups }: Service): readonly string[] {
  const named = groups.filter(({ group }) => group !== NO_GROUP);
  return named.map(({ group, weight }) => `${shortName(group)}*${weight}`);
}
