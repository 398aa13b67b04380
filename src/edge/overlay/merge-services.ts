import type { EdgeAddress, EdgePolicy } from "../../core/model/service.ts";
import type { TableRow } from "../environment/route-table.ts";
import type { ServiceIp, ServiceIpType } from "../environment/workload.ts";
import type { EdgeInstance } from "../table/live-instance.ts";
import type { EdgeService } from "../table/service-table.ts";
import { nameOfKey, serviceKey } from "./service-key.ts";

export const POLICY_OF: Readonly<Record<ServiceIpType, EdgePolicy>> = {
  RR: "round-robin",
  Closest: "closest",
  InstanceNumber: "instance",
};

const TYPE_OF: Readonly<Record<EdgePolicy, ServiceIpType>> = {
  "round-robin": "RR",
  closest: "Closest",
  instance: "InstanceNumber",
};

/**
 * All services that this node knows: what runs here is the node's own word, what runs elsewhere is the
 * manager's. Addresses that the manager knows are its word as well.
 */
export function mergeServices(
  node: string,
  local: readonly TableRow[],
  remote: readonly EdgeService[],
): readonly EdgeService[] {
  const rows = new Map<string, TableRow[]>();
  for (const row of local) {
    const key = serviceKey(row.appName);
    rows.set(key, [...(rows.get(key) ?? []), row]);
  }
  const known = new Map(remote.map((service) => [service.key, service]));
  const keys = new Set([...known.keys(), ...rows.keys()]);
  return [...keys].map((key) => mergeOne(node, key, rows.get(key) ?? [], known.get(key)));
}

function mergeOne(
  node: string,
  key: string,
  rows: readonly TableRow[],
  remote: EdgeService | undefined,
): EdgeService {
  const addresses = new Map<string, EdgeAddress>();
  for (const row of rows) {
    for (const edge of edgeAddresses(row)) addresses.set(edge.address, edge);
  }
  for (const edge of remote?.addresses ?? []) addresses.set(edge.address, edge);
  const elsewhere = (remote?.instances ?? []).filter((instance) => instance.node !== node);
  return {
    key,
    names: remote?.names ?? namesOf(key),
    addresses: [...addresses.values()],
    instances: [...rows.map((row) => instanceOf(node, row)), ...elsewhere],
  };
}

/** What a service is called: by its name, and with its namespace behind it. */
export function namesOf(key: string): readonly string[] {
  const [namespace = ""] = key.split("/");
  const name = nameOfKey(key);
  return key === serviceKey(name)
    ? [name, `${name}.${namespace}`]
    : [`${key.slice(namespace.length + 1)}.${namespace}`];
}

function edgeAddresses({
  serviceIps,
  instanceNumber,
}: Pick<TableRow, "serviceIps" | "instanceNumber">): readonly EdgeAddress[] {
  return serviceIps.map(({ type, address }) => ({
    address,
    policy: POLICY_OF[type],
    instance: type === "InstanceNumber" ? instanceNumber : -1,
  }));
}

/** Those addresses of a service by which an instance is reached. */
export function serviceIpsOf(
  addresses: readonly EdgeAddress[],
  number: number,
): readonly ServiceIp[] {
  return addresses
    .filter(({ policy, instance }) => policy !== "instance" || instance === number)
    .map(({ policy, address }) => ({ type: TYPE_OF[policy], address }));
}

function instanceOf(node: string, row: TableRow): EdgeInstance {
  const { instanceNumber: number, nsAddress, nsAddressv6, ports } = row;
  const addresses = [nsAddress, nsAddressv6];
  return { number, node, addresses, weight: 1, ...(ports && { ports }) };
}
