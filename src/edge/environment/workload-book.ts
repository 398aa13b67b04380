import type { PublishedPort } from "./edge-network.ts";
import { keyOf, type PortMapping } from "./port-mappings.ts";
import type { Workload } from "./workload.ts";

/** Whether a workload is connected; `lost`: its namespace, or its link, is gone. */
export type WorkloadHealth = "up" | "lost";

export interface WorkloadEntry {
  readonly workload: Workload;
  readonly health: WorkloadHealth;
}

/** The workloads of a node, by name. */
export class WorkloadBook {
  readonly #entries = new Map<string, WorkloadEntry>();

  get size(): number {
    return this.#entries.size;
  }

  get(name: string): WorkloadEntry | undefined {
    return this.#entries.get(name);
  }

  all(): readonly WorkloadEntry[] {
    return [...this.#entries.values()];
  }

  set(workload: Workload, health: WorkloadHealth): void {
    this.#entries.set(workload.name, { workload, health });
  }

  /** As it was before; undefined: not there. */
  putBack(name: string, entry: WorkloadEntry | undefined): void {
    if (entry === undefined) this.#entries.delete(name);
    else this.#entries.set(name, entry);
  }

  /** All but one, as they are written down. */
  without(name: string): readonly Workload[] {
    return this.all().flatMap(({ workload }) => (workload.name === name ? [] : [workload]));
  }

  /** Leaves the namespace of a workload that goes to another one that is in it; false where there is none. */
  passOn({ name, namespace }: Workload): boolean {
    const heir = this.connected().find(
      (other) => other.name !== name && other.namespace.id === namespace.id,
    );
    if (heir === undefined) return false;
    if (namespace.madeAs !== "") this.set({ ...heir, namespace }, "up");
    return true;
  }

  connected(): readonly Workload[] {
    return this.all().flatMap(({ workload, health }) => (health === "up" ? [workload] : []));
  }

  publishedPorts(): readonly PublishedPort[] {
    return this.connected().flatMap(({ portMappings, addresses }) =>
      portMappings.map((mapping) => ({ ...mapping, addresses })),
    );
  }

  /** The first of these ports that another workload than `name` has, and which one. */
  findTaken(
    ports: readonly PortMapping[],
    name: string,
  ): { readonly port: PortMapping; readonly holder: string } | undefined {
    const holders = new Map(
      this.without(name).flatMap((other) =>
        other.portMappings.map((mapping) => [keyOf(mapping), other.name] as const),
      ),
    );
    for (const port of ports) {
      const holder = holders.get(keyOf(port));
      if (holder !== undefined) return { port, holder };
    }
    return undefined;
  }
}
