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
}

/** Who knows where services are. */
export interface RouteTable {
  rows(): readonly TableRow[];
  /** What runs on this node changed. */
  setLocal(rows: readonly TableRow[]): void;
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
}

export interface FlowList {
  flows(): readonly FlowRow[];
}

/** A table of what runs on this node, where nobody knows of others. */
export class LocalTable implements RouteTable {
  #rows: readonly TableRow[] = [];
  readonly #waiting = new Set<() => void>();

  rows(): readonly TableRow[] {
    return this.#rows;
  }

  setLocal(rows: readonly TableRow[]): void {
    this.#rows = rows;
    for (const look of this.#waiting) look();
  }

  ensure(services: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
    return new Promise((resolve) => {
      const look = (): void => {
        const missing = this.#missing(services);
        if (missing.length > 0 && !signal.aborted) return;
        this.#waiting.delete(look);
        signal.removeEventListener("abort", look);
        resolve(missing);
      };
      this.#waiting.add(look);
      signal.addEventListener("abort", look);
      look();
    });
  }

  #missing(services: readonly string[]): readonly string[] {
    const known = new Set(this.#rows.map(({ appName }) => appName));
    return services.filter((service) => !known.has(service));
  }
}

/** @param node where this node is reached, for workloads that say nothing else */
export function rowOf(
  workload: Workload,
  node: { readonly ip: string | undefined; readonly port: number },
): TableRow {
  const { appName, instanceNumber, addresses, serviceIps } = workload;
  return {
    appName,
    instanceNumber,
    nodeIp: workload.nodeIp ?? node.ip,
    nodePort: workload.nodePort ?? node.port,
    nsAddress: addresses.v4,
    nsAddressv6: addresses.v6,
    serviceIps,
    isLocal: true,
  };
}
