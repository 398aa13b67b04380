import type { InstancePort } from "../table/name-meaning.ts";
import type { ServiceIp, Workload } from "./workload.ts";

/** One instance of a service, and how it is reached. */
export interface TableRow {
  readonly appName: string;
  readonly instanceNumber: number;
  /** Of the node that it runs on; undefined where that is not known. */
  readonly nodeIp: string | undefined;
  readonly nodePort: number;
  readonly nsAddress: string;
  readonly nsAddressv6: string;
  readonly serviceIps: readonly ServiceIp[];
  readonly isLocal: boolean;
  /** What it serves on, where that is known. */
  readonly ports?: readonly InstancePort[];
}

/** Who knows where services are. */
export interface RouteTable {
  rows(): readonly TableRow[];
  /** What runs on this node changed. */
  setLocal(rows: readonly TableRow[]): void;
  /**
   * Says that an instance is about to run here, before it does.
   * @returns its service addresses: those that were asked for, and those that it was given
   * @throws CoreError ERR_ADDRESS_TAKEN, ERR_KEY_TAKEN where others have what it asks for
   */
  claim(row: TableRow): Promise<readonly ServiceIp[]>;
  /** It does not run here, or not any more. Succeeds where it was never claimed. */
  release(row: Pick<TableRow, "appName" | "instanceNumber">): Promise<void>;
  /**
   * Waits until all of these services are known, at most until `signal` is aborted.
   * @returns those that are not
   */
  ensure(services: readonly string[], signal: AbortSignal): Promise<readonly string[]>;
}

/** A flow through the tunnel, as it is shown. */
export interface FlowRow {
  readonly protocol: string;
  readonly source: string;
  readonly destination: string;
  /** The instance that it was given. */
  readonly instance: string;
  /** The node where that runs. */
  readonly node: string;
  readonly state: string;
}

/** Another node, as the tunnel sees it. */
export interface NodeRow {
  readonly name: string;
  /** `HOST:PORT`; empty where it is not known. */
  readonly endpoint: string;
  /** What packets travel by; null where nothing is agreed on yet. */
  readonly mode: string | null;
  /** Smoothed; null where none was measured yet. */
  readonly roundTripMs: number | null;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** Whether short packets pass in the kernel. */
export interface KernelPathRow {
  readonly isOpen: boolean;
  /** Why they do not. */
  readonly reason: string | null;
}

export interface NodeList {
  nodes(): Promise<readonly NodeRow[]>;
  kernelPath(): Promise<KernelPathRow>;
}

export interface FlowList {
  /** Some of them, where there are very many. */
  flows(): Promise<readonly FlowRow[]>;
}

/** @param node where this node is reached, for workloads that say nothing else */
export function rowOf(
  workload: Omit<Workload, "hostLink" | "link">,
  node: { readonly ip: string | undefined; readonly port: number },
): TableRow {
  const { appName, instanceNumber, addresses, serviceIps, portMappings } = workload;
  return {
    appName,
    instanceNumber,
    nodeIp: workload.nodeIp ?? node.ip,
    nodePort: workload.nodePort ?? node.port,
    nsAddress: addresses.v4,
    nsAddressv6: addresses.v6,
    serviceIps,
    isLocal: true,
    ports: portMappings.map(({ protocol, port }) => ({ protocol, port })),
  };
}
