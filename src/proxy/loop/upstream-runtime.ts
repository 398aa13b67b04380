import type { RequestHint } from "../../core/route/packet.ts";
import { scoreHints } from "../../core/route/request-hints.ts";
import { ERRNO } from "../../platform/errno.ts";
import { type Accepts, ANY_SERVER } from "../balance/balancer.ts";
import type { Server } from "../balance/server.ts";
import type { UpstreamConfig } from "../engine-config.ts";
import type { DialTargets } from "../relay/dial-targets.ts";
import type { ServerGroup } from "../server-group.ts";
import { type Choice, Upstream } from "../upstream.ts";
import { AffinityTable } from "./affinity-table.ts";
import type { Stay } from "./engine-messages.ts";
import type { GroupRuntime } from "./group-runtime.ts";
import type { ServerTarget } from "./server-target.ts";

export interface UpstreamRuntimeOptions {
  readonly key: string;
  readonly random: () => number;
  readonly nowMs: () => number;
  readonly groupOf: (key: string) => GroupRuntime | undefined;
  /** A client stays with a server from now on; for the other loops. */
  readonly onStay: (stay: Stay) => void;
}

const MS_PER_SECOND = 1000;

/** Who asks for a server. */
export interface Asking {
  readonly hint?: RequestHint | undefined;
  /** Canonical address; needed where `readsClient`. */
  readonly client: string;
  /** As the listener has it. */
  readonly fallsBack: boolean;
}

/** An upstream in one loop. */
export class UpstreamRuntime {
  readonly #options: UpstreamRuntimeOptions;
  readonly #lenient: Upstream;
  readonly #strict: Upstream;
  readonly #runtimes = new Map<Choice["group"], GroupRuntime>();
  readonly #affinity: AffinityTable;
  #config: UpstreamConfig;
  #readsHints = false;

  constructor(options: UpstreamRuntimeOptions) {
    this.#options = options;
    const { random, key } = options;
    this.#lenient = new Upstream({ random, fallsBack: true });
    this.#strict = new Upstream({ random, fallsBack: false });
    this.#config = { key, groups: [], affinitySeconds: 0 };
    this.#affinity = new AffinityTable(options.nowMs);
  }

  /** Groups that are not there (any more) are left out. */
  change(config: UpstreamConfig): void {
    this.#config = config;
    this.#readsHints = config.groups.some(
      ({ hints: { host, port, path } }) => host !== "" || port !== 0 || path !== "",
    );
    this.#affinity.setTimeoutMs(config.affinitySeconds * MS_PER_SECOND);
    const wanted = new Set(config.groups.map(({ group }) => group));
    for (const key of [...this.#lenient.attachments.keys()]) {
      if (!wanted.has(key)) this.#detach(key);
    }
    for (const { group: key, weight, hints } of config.groups) {
      const runtime = this.#options.groupOf(key);
      if (runtime === undefined) {
        this.#detach(key);
        continue;
      }
      const attachment = { group: runtime.group, weight, hints };
      this.#runtimes.set(runtime.group, runtime);
      this.#lenient.attach(key, attachment);
      this.#strict.attach(key, attachment);
    }
  }

  hasGroup(key: string): boolean {
    return this.#config.groups.some(({ group }) => group === key);
  }

  /** A group has come that was not there when it was attached. */
  groupCame(key: string): void {
    if (this.hasGroup(key)) this.change(this.#config);
  }

  /** Whether what a client asks for can make a difference. */
  get readsHints(): boolean {
    return this.#readsHints;
  }

  /** Whether the address of the client can make a difference. */
  get readsClient(): boolean {
    if (this.#config.affinitySeconds > 0) return true;
    for (const runtime of this.#runtimes.values()) {
      if (runtime.method === "source-hash") return true;
    }
    return false;
  }

  /** The servers for a client, the best first; each is chosen when it is asked for. */
  targetsFor(asking: Asking): DialTargets {
    return new UpstreamTargets((accepts) => this.#choose(asking, accepts));
  }

  /** One server for one request; not one of those that were tried. */
  choose(asking: Asking, accepts: Accepts = ANY_SERVER): ServerTarget | undefined {
    return this.#choose(asking, accepts);
  }

  /** The servers of the group that the hint names; undefined where no group does. */
  seek(asking: Asking): DialTargets | undefined {
    const { hint } = asking;
    const isNamed =
      hint !== undefined &&
      this.#config.groups.some(
        ({ weight, hints }) => weight > 0 && scoreHints(hints, hint) !== undefined,
      );
    if (!isNamed) return undefined;
    return new UpstreamTargets((accepts) => this.#targetOf(this.#next(asking, accepts)));
  }

  /** The hosts that groups are known by. */
  get hosts(): readonly string[] {
    return this.#config.groups.map(({ hints }) => hints.host).filter((host) => host !== "");
  }

  /** The group that is known by a host, or that stands in for it; undefined where none is. */
  groupNamed(host: string, fallsBack: boolean): ServerGroup | undefined {
    return this.#upstream(fallsBack).best({ host });
  }

  /** The server at that very address, in whichever group. */
  find(address: string, port: number): ServerTarget | undefined {
    return this.#targetOf(this.#lenient.find(address, port));
  }

  /** Another loop said that a client stays with a server. */
  noteStay(stay: Stay): void {
    this.#affinity.noteElsewhere(stay.client, stay);
  }

  #next({ hint, client, fallsBack }: Asking, accepts: Accepts): Choice | undefined {
    return this.#upstream(fallsBack).next(hint, client, this.#options.nowMs(), accepts);
  }

  #upstream(fallsBack: boolean): Upstream {
    return fallsBack ? this.#lenient : this.#strict;
  }

  #choose(asking: Asking, accepts: Accepts): ServerTarget | undefined {
    const { client } = asking;
    const stayed = this.#config.affinitySeconds > 0 ? this.#stayed(asking, accepts) : undefined;
    if (stayed !== undefined) return stayed;
    for (const runtime of this.#runtimes.values()) runtime.lookElsewhere();
    const choice = this.#next(asking, accepts);
    if (choice !== undefined && this.#config.affinitySeconds > 0) this.#noteStay(client, choice);
    return this.#targetOf(choice);
  }

  /** The server that a client has had before, where it takes connections and the hint leads there. */
  #stayed({ hint, client, fallsBack }: Asking, accepts: Accepts): ServerTarget | undefined {
    const id = this.#affinity.find(client);
    const group = id && this.#options.groupOf(id.group)?.group;
    const server = id && group?.find(id.address, id.port);
    if (group === undefined || server === undefined || !accepts(server)) return undefined;
    if (!this.#upstream(fallsBack).leadsTo(group, hint)) return undefined;
    const choice = { group, server };
    this.#noteStay(client, choice);
    return this.#targetOf(choice);
  }

  #noteStay(client: string, { group, server }: Choice): void {
    const id = this.#runtimes.get(group)?.idOf(server);
    if (id === undefined || !this.#affinity.note(client, id)) return;
    this.#options.onStay({ ...id, client, upstream: this.#config.key });
  }

  #targetOf(choice: Choice | undefined): ServerTarget | undefined {
    if (choice === undefined) return undefined;
    return this.#runtimes.get(choice.group)?.targetOf(choice.server);
  }

  #detach(key: string): void {
    const attached = this.#lenient.attachments.get(key);
    if (attached !== undefined) this.#runtimes.delete(attached.group);
    this.#lenient.detach(key);
    this.#strict.detach(key);
  }
}

/** Never the same server twice. */
class UpstreamTargets implements DialTargets {
  readonly noneResult: number = -ERRNO.EHOSTUNREACH;
  readonly #choose: (accepts: Accepts) => ServerTarget | undefined;
  #tried: Set<Server> | undefined;
  #last: Server | undefined;

  constructor(choose: (accepts: Accepts) => ServerTarget | undefined) {
    this.#choose = choose;
  }

  next(): ServerTarget | undefined {
    const target = this.#choose(this.#accepts());
    this.#last = target?.server;
    return target;
  }

  #accepts(): Accepts {
    if (this.#last === undefined) return ANY_SERVER;
    const tried = this.#tried ?? new Set<Server>();
    this.#tried = tried.add(this.#last);
    return (server) => !tried.has(server);
  }
}
