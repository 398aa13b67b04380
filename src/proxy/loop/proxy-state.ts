import type { StreamFd } from "../../net/fd.ts";
import type { SessionHost } from "../relay/session-host.ts";
import { createEntrance } from "../services/create-entrance.ts";
import type { Entrance } from "../services/entrance.ts";
import type { LoopRows } from "../stats/counter-blocks.ts";
import type { Change, ServerId, Stay } from "./engine-messages.ts";
import { GroupRuntime, type ServerWatcher } from "./group-runtime.ts";
import { socketIdOf } from "./socket-id.ts";
import { UpstreamRuntime } from "./upstream-runtime.ts";

export interface ProxyStateOptions {
  readonly host: SessionHost;
  readonly rows: LoopRows;
  readonly random: () => number;
  /** Undefined in loops that do not check. */
  readonly watcher: ServerWatcher | undefined;
  readonly onExperience: (id: ServerId, failure: string | undefined) => void;
  readonly onStay: (stay: Stay) => void;
}

type GroupChange = Extract<Change, { kind: "group" }>;
type ListenerChange = Extract<Change, { kind: "listener" }>;

/** All that one loop does for an engine: groups, upstreams and listeners, each changed by itself. */
export class ProxyState {
  readonly #options: ProxyStateOptions;
  readonly #groups = new Map<string, GroupRuntime>();
  readonly #upstreams = new Map<string, UpstreamRuntime>();
  /** By the id of their sockets. */
  readonly #entrances = new Map<string, Entrance>();

  constructor(options: ProxyStateOptions) {
    this.#options = options;
  }

  group(key: string): GroupRuntime | undefined {
    return this.#groups.get(key);
  }

  upstream(key: string): UpstreamRuntime | undefined {
    return this.#upstreams.get(key);
  }

  /** A connection came; where the listener is gone by now it is reset. */
  accept(socketId: string, fd: StreamFd): void {
    const entrance = this.#entrances.get(socketId);
    if (entrance === undefined) fd.reset();
    else entrance.accept(fd);
  }

  /** Nobody comes in any more. */
  closeEntrances(): void {
    for (const socketId of [...this.#entrances.keys()]) this.#closeEntrance(socketId);
  }

  /** Throws where it can not be done; then nothing of this change is. */
  change(change: Change): void {
    switch (change.kind) {
      case "group":
        this.#putGroup(change);
        return;
      case "group-gone":
        this.#groups.get(change.key)?.removeAll();
        this.#groups.delete(change.key);
        return;
      case "server": {
        const { rows } = this.#options;
        const own = rows.row(change.row);
        const elsewhere = rows.rowsElsewhere(change.row);
        this.#groups.get(change.group)?.put(change.spec, { own, elsewhere }, change.up);
        return;
      }
      case "server-gone":
        this.#groups.get(change.group)?.remove(change.member);
        return;
      case "upstream":
        this.#upstreamOf(change.config.key).change(change.config);
        return;
      case "upstream-gone":
        this.#upstreams.delete(change.key);
        return;
      case "listener":
        this.#putListener(change);
        return;
      case "socket-gone":
        this.#closeEntrance(change.socketId);
        return;
    }
  }

  #putGroup({ key, row, method, healthCheck }: GroupChange): void {
    const known = this.#groups.get(key);
    if (known !== undefined) {
      known.change(method, healthCheck);
      return;
    }
    const { host, rows, random, watcher, onExperience } = this.#options;
    const group = new GroupRuntime({
      key,
      row: rows.row(row),
      method,
      healthCheck,
      random,
      watcher,
      onExperience,
      nowMs: () => host.net.loop.nowMs,
    });
    this.#groups.set(key, group);
    for (const upstream of this.#upstreams.values()) upstream.groupCame(key);
  }

  #upstreamOf(key: string): UpstreamRuntime {
    const known = this.#upstreams.get(key);
    if (known !== undefined) return known;
    const { host, random, onStay } = this.#options;
    const upstream = new UpstreamRuntime({
      key,
      random,
      onStay,
      nowMs: () => host.net.loop.nowMs,
      groupOf: (group) => this.#groups.get(group),
    });
    this.#upstreams.set(key, upstream);
    return upstream;
  }

  /** A listener that takes the place of another one on its address gets its socket. */
  #putListener({ config, row: rowNumber }: ListenerChange): void {
    const { host, rows } = this.#options;
    const socketId = socketIdOf(config);
    const row = rows.row(rowNumber);
    if (this.#entrances.get(socketId)?.change(config, row) === true) return;
    this.#closeEntrance(socketId);
    const upstreamOf = (key: string) => this.#upstreams.get(key);
    this.#entrances.set(socketId, createEntrance(config, { host, row, upstreamOf }));
  }

  #closeEntrance(socketId: string): void {
    this.#entrances.get(socketId)?.close();
    this.#entrances.delete(socketId);
  }
}
