import { deepEqual } from "../../core/model/equal.ts";
import type { BalancingMethod, HealthCheck } from "../../core/model/group.ts";
import type { StreamFd } from "../../net/fd.ts";
import {
  ipAddress,
  kcpAddress,
  type SocketAddress,
  unixAddress,
} from "../../platform/socket-address.ts";
import type { MemberSpec } from "../balance/member.ts";
import { type Server, serverKey } from "../balance/server.ts";
import type { DialTlsConfig, StreamTransport } from "../engine-config.ts";
import type { HealthEdge } from "../health/health-state.ts";
import { ServerGroup } from "../server-group.ts";
import type { CounterRow } from "../stats/counter-row.ts";
import type { TlsDialer } from "../tls/tls-termination.ts";
import type { ServerId } from "./engine-messages.ts";
import { ServerTarget, type TargetHome } from "./server-target.ts";

/** Follows the servers of all groups: the one that checks them, in the loop that does. */
export interface ServerWatcher {
  added(group: GroupRuntime, server: Server): void;
  removed(group: GroupRuntime, server: Server): void;
}

/** What of a group may change. */
export interface GroupSettings {
  readonly method: BalancingMethod;
  readonly healthCheck: HealthCheck;
  readonly slowStartMs: number;
  readonly transport: StreamTransport;
  readonly tls: DialTlsConfig | undefined;
}

export interface GroupRuntimeOptions {
  readonly key: string;
  readonly row: CounterRow;
  readonly settings: GroupSettings;
  readonly nowMs: () => number;
  readonly random: () => number;
  readonly watcher: ServerWatcher;
  /** Opens TLS to servers. @throws CoreError where that can not be done here, or with these certificates */
  readonly openTls: (config: DialTlsConfig, group: string) => TlsDialer;
  /** What connections tell about the health of a server. */
  readonly onExperience: (id: ServerId, failure: string | undefined) => void;
}

/** The counters of a member: those of this loop, and what all others have. */
export interface MemberRows {
  readonly own: CounterRow;
  connectionsElsewhere(): number;
}

/** A group of servers in one loop, with their counters. */
export class GroupRuntime implements TargetHome {
  readonly key: string;
  readonly group: ServerGroup;
  readonly row: CounterRow;
  readonly #options: GroupRuntimeOptions;
  readonly #rows = new Map<string, MemberRows>();
  readonly #targets = new Map<Server, ServerTarget>();
  #settings: GroupSettings;
  #dialer: TlsDialer | undefined;
  #lookedMs = -1;

  constructor(options: GroupRuntimeOptions) {
    this.key = options.key;
    this.row = options.row;
    this.#options = options;
    this.#settings = options.settings;
    const { method, slowStartMs, tls } = options.settings;
    this.#dialer = tls && options.openTls(tls, options.key);
    this.group = new ServerGroup({
      method,
      slowStartMs,
      random: options.random,
      startsHealthy: false,
      onAdded: (server) => options.watcher.added(this, server),
      onRemoved: (server) => {
        this.#targets.delete(server);
        options.watcher.removed(this, server);
      },
    });
  }

  get method(): BalancingMethod {
    return this.#settings.method;
  }

  get healthCheck(): HealthCheck {
    return this.#settings.healthCheck;
  }

  /** Where connections to a server go. */
  addressOf({ address, port }: Pick<Server, "address" | "port">): SocketAddress {
    if (address.startsWith("/")) return unixAddress(address);
    return this.#settings.transport === "kcp"
      ? kcpAddress(address, port)
      : ipAddress(address, port);
  }

  /** Datagrams would go there without TLS, or beside the tunnel. */
  get isForStreams(): boolean {
    const { tls, transport } = this.#settings;
    return tls !== undefined || transport === "kcp";
  }

  nowMs(): number {
    return this.#options.nowMs();
  }

  /** The connection to a server as it is spoken on: within TLS where the group has that. */
  secured(fd: StreamFd, server: string): StreamFd {
    return this.#dialer?.wrap(fd, server) ?? fd;
  }

  /** @throws CoreError where its TLS can not be had; then all is as it was */
  change(settings: GroupSettings): void {
    const { method, slowStartMs, transport, tls } = this.#settings;
    if (settings.transport !== transport) this.#targets.clear();
    if (!deepEqual(settings.tls, tls)) {
      const dialer = settings.tls && this.#options.openTls(settings.tls, this.key);
      // Connections that are open, or under way, go on as they began; those that wait for the next request are
      // kept by target, and nobody asks for the old ones any more.
      this.#dialer?.close();
      this.#dialer = dialer;
      this.#targets.clear();
    }
    if (settings.method !== method) this.group.setMethod(settings.method);
    if (settings.slowStartMs !== slowStartMs) this.group.setSlowStartMs(settings.slowStartMs);
    this.#settings = settings;
    if (settings.healthCheck.protocol !== "none") return;
    for (const server of [...this.group.servers()]) this.#setHealthy(server, true);
  }

  /** @param up keys of the addresses that are known to be up. */
  put(spec: MemberSpec, rows: MemberRows, up: readonly string[]): void {
    this.#rows.set(spec.id, rows);
    this.group.put(spec, this.nowMs());
    const isUnchecked = this.healthCheck.protocol === "none";
    for (const server of [...this.group.servers()]) {
      if (server.memberId !== spec.id || server.healthy) continue;
      if (isUnchecked || up.includes(server.key)) this.#setHealthy(server, true);
    }
  }

  remove(member: string): void {
    this.group.remove(member);
    this.#rows.delete(member);
  }

  /** All servers leave; connections that are open go on. */
  removeAll(): void {
    for (const member of [...this.#rows.keys()]) this.remove(member);
    this.#dialer?.close();
    this.#dialer = undefined;
  }

  setHealth({ member, address, port }: ServerId, edge: HealthEdge): void {
    for (const server of [...this.group.servers()]) {
      if (server.memberId !== member || server.key !== serverKey(address, port)) continue;
      this.#setHealthy(server, edge === "up");
    }
  }

  idOf({ memberId, address, port }: Server): ServerId {
    return { group: this.key, member: memberId, address, port };
  }

  /** A health check of one of its servers has ended, in this loop. */
  checked({ member }: ServerId, ok: boolean): void {
    this.#rows.get(member)?.own.checked(ok);
  }

  /** Undefined where the server has left. */
  targetOf(server: Server): ServerTarget | undefined {
    const known = this.#targets.get(server);
    if (known !== undefined) return known;
    const rows = this.#rows.get(server.memberId);
    if (rows === undefined) return undefined;
    const target = new ServerTarget(this, server, rows.own);
    this.#targets.set(server, target);
    return target;
  }

  /** Before a choice by load: what the other loops have open; once for each round of the loop. */
  lookElsewhere(): void {
    const nowMs = this.nowMs();
    if (this.method !== "least-connections" || nowMs === this.#lookedMs) return;
    this.#lookedMs = nowMs;
    for (const server of [...this.group.servers()]) {
      const rows = this.#rows.get(server.memberId);
      if (rows !== undefined) this.group.setElsewhere(server, rows.connectionsElsewhere());
    }
  }

  experienced(server: Server, failure: string | undefined): void {
    if (this.healthCheck.protocol === "none") return;
    this.#options.onExperience(this.idOf(server), failure);
  }

  #setHealthy(server: Server, healthy: boolean): void {
    this.group.setHealthy(server, healthy, this.nowMs());
  }
}
