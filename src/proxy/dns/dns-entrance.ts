import { deepEqual } from "../../core/model/equal.ts";
import type { ListenerRole } from "../../net/acceptor.ts";
import type { DatagramFd, StreamFd } from "../../net/fd.ts";
import type { ListenerConfig } from "../engine-config.ts";
import type { UpstreamRuntime } from "../loop/upstream-runtime.ts";
import type { SessionHost } from "../relay/session-host.ts";
import { SecurityGroup } from "../security-group.ts";
import type { Entrance } from "../services/entrance.ts";
import type { CounterRow } from "../stats/counter-row.ts";
import { DnsCache, type DnsCacheEntry } from "./dns-cache.ts";
import { DnsClients } from "./dns-clients.ts";
import { DnsForwarder } from "./dns-forwarder.ts";
import { DnsResponder } from "./dns-responder.ts";
import { LocalNames, type NamedGroups } from "./local-names.ts";

export interface DnsEntranceParts {
  readonly config: ListenerConfig;
  readonly row: CounterRow;
  readonly upstreamOf: (key: string) => UpstreamRuntime | undefined;
}

const MAX_CACHE_ENTRIES = 2048;
/** Connections are for asking, not for keeping. */
const STREAM_PATIENCE_MS = 10_000;

/** The entrance of DNS clients, over UDP and TCP. */
export class DnsEntrance implements Entrance {
  readonly #host: SessionHost;
  readonly #upstreamOf: DnsEntranceParts["upstreamOf"];
  readonly #clients: DnsClients;
  #cache = new DnsCache(MAX_CACHE_ENTRIES);
  #config: ListenerConfig;
  #row: CounterRow;
  #access: SecurityGroup | undefined;
  #responder: DnsResponder;

  constructor(host: SessionHost, { config, row, upstreamOf }: DnsEntranceParts) {
    this.#host = host;
    this.#upstreamOf = upstreamOf;
    this.#config = config;
    this.#row = row;
    this.#access = config.access && new SecurityGroup(config.access);
    this.#responder = this.#createResponder(config, row);
    this.#clients = new DnsClients(host, {
      describe: () => this.#describe(),
      responder: () => this.#responder,
      allows: (client, protocol) => this.#allows(client, protocol),
      patienceMs: () => Math.min(this.#config.idleTimeoutMs, STREAM_PATIENCE_MS),
      onCrowded: () => this.#row.failed(),
    });
  }

  accept(fd: StreamFd): void {
    this.#clients.accept(fd);
  }

  addFront(fd: DatagramFd): void {
    this.#clients.addFront(fd);
  }

  removeFront(fd: DatagramFd): void {
    this.#clients.removeFront(fd);
  }

  change(config: ListenerConfig, row: CounterRow): boolean {
    if (config.mode !== this.#config.mode) return false;
    const isSameWay = deepEqual(config.dns?.forwardTo, this.#config.dns?.forwardTo);
    // What other resolvers said may be wrong by those of now.
    if (!isSameWay) this.#cache = new DnsCache(MAX_CACHE_ENTRIES);
    this.#config = config;
    this.#row = row;
    this.#access = config.access && new SecurityGroup(config.access);
    this.#responder = this.#createResponder(config, row);
    return true;
  }

  close(): void {
    this.#clients.close();
  }

  cacheEntries(): readonly DnsCacheEntry[] {
    return this.#cache.entries(this.#host.net.loop.nowMs);
  }

  dropCached(name: string): boolean {
    return this.#cache.drop(name);
  }

  #describe(): ListenerRole {
    const { bytesIn, bytesOut } = this.#row.read();
    return { listener: this.#config.key, bytesIn, bytesOut };
  }

  #createResponder(config: ListenerConfig, row: CounterRow): DnsResponder {
    const groups = (): NamedGroups | undefined => {
      const upstream = this.#upstreamOf(config.upstream);
      return upstream && namedGroups(upstream, config.fallsBack);
    };
    return new DnsResponder({
      config,
      row,
      names: new LocalNames(
        { hosts: config.dns?.hosts ?? new Map(), ttlSeconds: config.dns?.ttlSeconds ?? 0 },
        groups,
      ),
      forwarder: new DnsForwarder(this.#host, this.#cache),
      nowMs: () => this.#host.net.loop.nowMs,
    });
  }

  #allows(client: string, protocol: "TCP" | "UDP"): boolean {
    const { address } = this.#config;
    const port = address.family === "unix" ? 0 : address.port;
    return this.#access?.allows(client, protocol, port) ?? true;
  }
}

function namedGroups(upstream: UpstreamRuntime, fallsBack: boolean): NamedGroups {
  return {
    get hosts() {
      return upstream.hosts;
    },
    groupNamed: (host) => upstream.groupNamed(host, fallsBack),
  };
}
