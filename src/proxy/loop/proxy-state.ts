import { CoreError } from "../../core/errors.ts";
import type { ListenerRole } from "../../net/acceptor.ts";
import type { DatagramFd, StreamFd } from "../../net/fd.ts";
import type { DialTlsConfig } from "../engine-config.ts";
import type { ServerTalk } from "../health/server-talk.ts";
import type { SessionHost } from "../relay/session-host.ts";
import { createEntrance } from "../services/create-entrance.ts";
import type { Entrance } from "../services/entrance.ts";
import type { LoopRows } from "../stats/counter-blocks.ts";
import type { CounterRow } from "../stats/counter-row.ts";
import type { TlsDialer, TlsTermination } from "../tls/tls-termination.ts";
import type { CachedName, Change, ServerId, Stay } from "./engine-messages.ts";
import { GroupRuntime, type ServerWatcher } from "./group-runtime.ts";
import { Handover } from "./handover.ts";
import { socketsOf } from "./socket-id.ts";
import { UpstreamRuntime } from "./upstream-runtime.ts";

export interface ProxyStateOptions {
  readonly host: SessionHost;
  readonly rows: LoopRows;
  readonly random: () => number;
  readonly watcher: ServerWatcher;
  readonly onExperience: (id: ServerId, failure: string | undefined) => void;
  readonly onStay: (stay: Stay) => void;
  /** Undefined where no TLS can be terminated. */
  readonly tls: TlsTermination | undefined;
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
  /** The sockets for datagrams that this loop has, by their ids. */
  readonly #fronts = new Map<string, Set<DatagramFd>>();
  /** Whose the sockets are, by their ids. */
  readonly #listeners = new Map<string, { readonly key: string; readonly row: CounterRow }>();
  readonly handover: Handover = new Handover();

  constructor(options: ProxyStateOptions) {
    this.#options = options;
  }

  group(key: string): GroupRuntime | undefined {
    return this.#groups.get(key);
  }

  groups(): Iterable<GroupRuntime> {
    return this.#groups.values();
  }

  upstream(key: string): UpstreamRuntime | undefined {
    return this.#upstreams.get(key);
  }

  /** How a server of a group is spoken to; undefined where clients speak to it themselves. */
  talkTo(group: string, server: string): ServerTalk | undefined {
    for (const entrance of this.#entrances.values()) {
      const talk = entrance.talkTo?.(group, server);
      if (talk !== undefined) return talk;
    }
    return undefined;
  }

  /** Whose a socket is; undefined where it is nobody's any more. */
  listenerRole(socketId: string): ListenerRole | undefined {
    const listener = this.#listeners.get(socketId);
    if (listener === undefined) return undefined;
    const { bytesIn, bytesOut } = listener.row.read();
    return { listener: listener.key, bytesIn, bytesOut };
  }

  /** The answers of resolvers that listeners keep here. */
  cachedNames(): readonly CachedName[] {
    return this.#caches().flatMap(({ listener, entrance }) =>
      (entrance.cacheEntries?.() ?? []).map((entry) => ({ listener, ...entry })),
    );
  }

  /** Forgets what a listener keeps of a name; false where that is nothing. */
  dropCached(wanted: string, name: string): boolean {
    const dropped = this.#caches()
      .filter(({ listener }) => listener === wanted)
      .map(({ entrance }) => entrance.dropCached?.(name) ?? false);
    return dropped.includes(true);
  }

  /** A connection came; where the listener is gone by now it is reset. */
  accept(socketId: string, fd: StreamFd): void {
    const entrance = this.#entrances.get(socketId);
    if (entrance === undefined) fd.reset();
    else entrance.accept(fd);
  }

  /** A socket for the datagrams of a listener. */
  addFront(socketId: string, fd: DatagramFd): void {
    const fronts = this.#fronts.get(socketId) ?? new Set();
    this.#fronts.set(socketId, fronts.add(fd));
    this.#entrances.get(socketId)?.addFront?.(fd);
  }

  /** Nothing is received by it any more; it stays open. */
  removeFront(socketId: string, fd: DatagramFd): void {
    this.#entrances.get(socketId)?.removeFront?.(fd);
    this.#fronts.get(socketId)?.delete(fd);
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
        const counters = {
          own: rows.row(change.row),
          connectionsElsewhere: () => rows.connectionsElsewhere(change.row),
        };
        this.#groups.get(change.group)?.put(change.spec, counters, change.up);
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
        this.handover.delete(change.socketId);
        this.#listeners.delete(change.socketId);
        return;
    }
  }

  #putGroup({ key, row, ...settings }: GroupChange): void {
    const known = this.#groups.get(key);
    if (known !== undefined) {
      known.change(settings);
      return;
    }
    const { host, rows, random, watcher, onExperience } = this.#options;
    const group = new GroupRuntime({
      key,
      row: rows.row(row),
      settings,
      random,
      watcher,
      onExperience,
      nowMs: () => host.net.loop.nowMs,
      openTls: (config, group) => this.#openTls(config, group),
    });
    this.#groups.set(key, group);
    for (const upstream of this.#upstreams.values()) upstream.groupCame(key);
  }

  #openTls(config: DialTlsConfig, group: string): TlsDialer {
    const { host, tls } = this.#options;
    if (tls !== undefined) return tls.dialer(host, config, group);
    throw new CoreError(
      "ERR_NOT_POSSIBLE_HERE",
      `group ${group}: TLS to servers needs the provider posix, which is not used here`,
    );
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

  /** A listener that takes the place of another one on its address gets its sockets. */
  #putListener({ config, row: rowNumber, workers, certificates }: ListenerChange): void {
    const { host, rows, tls } = this.#options;
    const ids = socketsOf(config).map(({ id }) => id);
    const row = rows.row(rowNumber);
    if (!this.#changeEntrance(ids, (first) => first.change(config, row, certificates))) {
      const upstreamOf = (key: string) => this.#upstreams.get(key);
      // Where that fails, what is there goes on.
      const entrance = createEntrance(config, { host, row, upstreamOf, tls, certificates });
      for (const id of ids) this.#closeEntrance(id);
      for (const id of ids) this.#enter(id, entrance);
    }
    for (const id of ids) {
      this.handover.set(id, workers);
      this.#listeners.set(id, { key: config.key, row });
    }
  }

  /** Each entrance once, however many sockets it has. */
  #caches(): readonly { readonly listener: string; readonly entrance: Entrance }[] {
    const entrances = new Map<Entrance, string>();
    for (const [socketId, entrance] of this.#entrances) {
      if (entrance.cacheEntries === undefined) continue;
      entrances.set(entrance, this.#listeners.get(socketId)?.key ?? "");
    }
    return [...entrances].map(([entrance, listener]) => ({ listener, entrance }));
  }

  /** False where there is none that could become it. */
  #changeEntrance(ids: readonly string[], change: (first: Entrance) => boolean): boolean {
    const [first, ...others] = ids.map((id) => this.#entrances.get(id));
    return first !== undefined && others.every((other) => other === first) && change(first);
  }

  #enter(socketId: string, entrance: Entrance): void {
    this.#entrances.set(socketId, entrance);
    for (const fd of this.#fronts.get(socketId) ?? []) entrance.addFront?.(fd);
  }

  /** It ends with its last socket. */
  #closeEntrance(socketId: string): void {
    const entrance = this.#entrances.get(socketId);
    if (entrance === undefined) return;
    this.#entrances.delete(socketId);
    for (const fd of this.#fronts.get(socketId) ?? []) entrance.removeFront?.(fd);
    if (![...this.#entrances.values()].includes(entrance)) entrance.close();
  }
}
