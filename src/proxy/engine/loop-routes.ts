import type { ListenerConfig } from "../engine-config.ts";
import { DEFAULT_GROUP, type FleetGroup, type GroupPair } from "./fleet.ts";

/** Which loops a listener uses. */
export interface LoopRoute {
  /** The group that accepts connections, and the one that serves them; datagrams have the latter only. */
  readonly accept: string;
  readonly work: string;
  /** The loops that connections are handed to; none: they stay where they were accepted. */
  readonly workers: readonly string[];
}

/**
 * Leads listeners to loops. Those that name no group for work use the default one; those that name
 * none for accepting accept where they work. A group without loops counts as none.
 */
export class LoopRoutes {
  readonly #loops: ReadonlyMap<string, readonly string[]>;

  constructor(groups: readonly Pick<FleetGroup, "name" | "loops">[]) {
    const running = groups.filter(({ loops }) => loops.length > 0);
    this.#loops = new Map(running.map(({ name, loops }) => [name, loops.map((loop) => loop.name)]));
  }

  of({ acceptLoops, workLoops }: ListenerConfig): LoopRoute {
    const work = this.#groupOr(workLoops, DEFAULT_GROUP);
    const accept = this.#groupOr(acceptLoops, work);
    const workers = accept === work ? [] : (this.#loops.get(work) ?? []);
    return { accept, work, workers };
  }

  /** Between which groups connections are handed over. */
  pairs(listeners: readonly ListenerConfig[]): readonly GroupPair[] {
    const routes = listeners.map((listener) => this.of(listener));
    return routes.flatMap(({ accept, work, workers }) =>
      workers.length === 0 ? [] : [{ from: accept, to: work }],
    );
  }

  /** What listeners ask for and can not have, in words. */
  unmet(listeners: readonly ListenerConfig[]): readonly string[] {
    return listeners.flatMap(({ key, acceptLoops, workLoops }) => {
      const missing = [acceptLoops, workLoops].filter(
        (name) => name !== "" && !this.#loops.has(name),
      );
      return [...new Set(missing)].map(
        (name) => `${key}: loop group "${name}" is not there, or has no loop; others are used`,
      );
    });
  }

  #groupOr(name: string, otherwise: string): string {
    return this.#loops.has(name) ? name : otherwise;
  }
}
