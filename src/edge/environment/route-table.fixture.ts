import { KnownServices } from "./known-services.ts";
import type { RouteTable, TableRow } from "./route-table.ts";
import type { ServiceIp } from "./workload.ts";

/** A table of what runs on this node, where nobody knows of others. */
export class LocalTable implements RouteTable {
  readonly #known = new KnownServices();
  readonly claimed: Set<string> = new Set();
  #rows: readonly TableRow[] = [];

  rows(): readonly TableRow[] {
    return this.#rows;
  }

  setLocal(rows: readonly TableRow[]): void {
    this.#rows = rows;
    this.#known.set(rows.map(({ appName }) => appName));
  }

  async claim({ appName, instanceNumber, serviceIps }: TableRow): Promise<readonly ServiceIp[]> {
    this.claimed.add(`${appName} ${instanceNumber}`);
    return serviceIps;
  }

  async release({
    appName,
    instanceNumber,
  }: Pick<TableRow, "appName" | "instanceNumber">): Promise<void> {
    this.claimed.delete(`${appName} ${instanceNumber}`);
  }

  ensure(services: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
    return this.#known.ensure(services, signal);
  }
}
