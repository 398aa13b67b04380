import { CoreError } from "../core/errors.ts";
import type { MetricFamily } from "../core/metrics/metric-family.ts";
import type { GlobalStore } from "../core/store/global-store.ts";
import { announceInTurn } from "./announce-in-turn.ts";
import type { Announcer } from "./announcer.ts";
import type { Following } from "./servers-of-service.ts";
import { SmartGroupDelegate } from "./smart-group-delegate.ts";
import {
  type NodeDelegateSettings,
  type NodeDelegateWorld,
  SmartNodeDelegate,
} from "./smart-node-delegate.ts";

export type DelegateSettings =
  | ({ readonly kind: "smart-group-delegate"; readonly name: string } & Following)
  | ({ readonly kind: "smart-node-delegate"; readonly name: string } & NodeDelegateSettings);

export interface DelegatesOptions extends Omit<NodeDelegateWorld, "announcer"> {
  readonly store: GlobalStore;
  /** Made with the first that announces. */
  readonly openAnnouncer: () => Promise<Announcer>;
}

type Running =
  | { readonly kind: "group"; readonly delegate: SmartGroupDelegate }
  | { readonly kind: "node"; readonly delegate: SmartNodeDelegate };

interface Held<S extends DelegateSettings> {
  readonly entry: S;
  /** Undefined until it could be begun. */
  running: Running | undefined;
}

/** How one of them does. */
export interface DelegateReport<S extends DelegateSettings> {
  readonly entry: S;
  readonly status: string;
  readonly servers: readonly string[];
  readonly to: string;
  readonly problem: string;
}

/** The delegates of one instance. */
export class Delegates<S extends DelegateSettings> {
  readonly #options: DelegatesOptions;
  readonly #held = new Map<string, Held<S>>();
  #announcer: Promise<Announcer> | undefined;
  #where = "";

  constructor(options: DelegatesOptions) {
    this.#options = options;
  }

  list(): readonly DelegateReport<S>[] {
    return [...this.#held.values()].map(({ entry, running }) => {
      if (running === undefined) {
        return { entry, status: "starting", servers: [], to: "", problem: "" };
      }
      const { delegate } = running;
      const servers =
        running.kind === "group" ? running.delegate.servers : running.delegate.announced;
      const to = running.kind === "group" ? "" : this.#where;
      return { entry, status: delegate.status, servers, to, problem: delegate.problem };
    });
  }

  /** @throws CoreError ERR_KEY_TAKEN, and what keeps it from announcing at all */
  async add(entry: S): Promise<void> {
    const id = idOf(entry.kind, entry.name);
    if (this.#held.has(id)) {
      throw new CoreError("ERR_KEY_TAKEN", `${entry.kind} ${entry.name} is there already`);
    }
    const held: Held<S> = { entry, running: undefined };
    this.#held.set(id, held);
    if (entry.kind === "smart-group-delegate") this.#follow(held, entry);
    else {
      try {
        await this.#announce(held, entry);
      } catch (error) {
        this.#held.delete(id);
        throw error;
      }
    }
    this.#options.onChange();
  }

  async remove(kind: S["kind"], name: string): Promise<void> {
    const id = idOf(kind, name);
    const held = this.#held.get(id);
    if (held === undefined) throw new CoreError("ERR_NOT_FOUND", `${kind} ${name} is not there`);
    this.#held.delete(id);
    await held.running?.delegate.close();
    this.#options.onChange();
  }

  /** Another process announces the same from now on, perhaps not yet: the end of these withdraws nothing. */
  async leave(): Promise<void> {
    (await this.#announcer?.catch(() => undefined))?.leave();
  }

  async closeAll(): Promise<void> {
    const all = [...this.#held.values()];
    this.#held.clear();
    await Promise.all(all.map(({ running }) => running?.delegate.close()));
    (await this.#announcer?.catch(() => undefined))?.close();
  }

  metrics(): readonly MetricFamily[] {
    const samples = this.list().map(({ entry, servers }) => ({ entry, value: servers.length }));
    const labelsOf = ({ name, service, zone }: S) => ({ delegate: name, service, zone });
    const of = (kind: S["kind"]) =>
      samples.flatMap(({ entry, value }) =>
        entry.kind === kind ? [{ labels: labelsOf(entry), value }] : [],
      );
    return [
      {
        name: "mesh_group_servers",
        help: "Servers that a smart-group-delegate keeps in its group",
        kind: "gauge",
        samples: of("smart-group-delegate"),
      },
      {
        name: "mesh_node_announced",
        help: "1 while the port of a smart-node-delegate is announced",
        kind: "gauge",
        samples: of("smart-node-delegate"),
      },
    ];
  }

  #follow(held: Held<S>, following: Following): void {
    const { store, onChange } = this.#options;
    const delegate = new SmartGroupDelegate({ store, following, onChange });
    held.running = { kind: "group", delegate };
  }

  async #announce(held: Held<S>, settings: NodeDelegateSettings): Promise<void> {
    this.#announcer ??= this.#options.openAnnouncer().then(announceInTurn);
    const announcer = await this.#announcer;
    this.#where = announcer.where;
    // It may have been removed meanwhile.
    if (this.#held.get(idOf(held.entry.kind, held.entry.name)) !== held) return;
    const delegate = new SmartNodeDelegate(settings, { ...this.#options, announcer });
    held.running = { kind: "node", delegate };
  }
}

function idOf(kind: string, name: string): string {
  return `${kind} ${name}`;
}
