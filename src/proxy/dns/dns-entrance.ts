import { deepEqual } from "../../core/model/equal.ts";
import type { ListenerRole } from "../../net/acceptor.ts";
import type { DatagramFd, DatagramPeer, StreamFd } from "../../net/fd.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import type { ListenerConfig } from "../engine-config.ts";
import type { UpstreamRuntime } from "../loop/upstream-runtime.ts";
import type { SessionHost } from "../relay/session-host.ts";
import { SecurityGroup } from "../security-group.ts";
import type { Entrance } from "../services/entrance.ts";
import type { CounterRow } from "../stats/counter-row.ts";
import { type FrontReader, UdpFront } from "../udp/udp-front.ts";
import { DnsCache, type DnsCacheEntry } from "./dns-cache.ts";
import { DnsForwarder } from "./dns-forwarder.ts";
import { DnsResponder } from "./dns-responder.ts";
import { DnsStream } from "./dns-stream.ts";
import { LocalNames, type NamedGroups } from "./local-names.ts";

export interface DnsEntranceParts {
  readonly config: ListenerConfig;
  readonly row: CounterRow;
  readonly upstreamOf: (key: string) => UpstreamRuntime | undefined;
}

const MAX_CACHE_ENTRIES = 2048;
/** Clients that ask over TCP, in one loop. */
const MAX_STREAMS = 256;
/** Connections are for asking, not for keeping. */
const STREAM_PATIENCE_MS = 10_000;

/** The entrance of DNS clients, over UDP and TCP. */
export class DnsEntrance implements Entrance, FrontReader {
  readonly #host: SessionHost;
  readonly #upstreamOf: DnsEntranceParts["upstreamOf"];
  readonly #fronts = new Map<DatagramFd, UdpFront>();
  /** The one that has not asked for the longest time comes first. */
  readonly #streams = new Set<DnsStream>();
  #cache = new DnsCache(MAX_CACHE_ENTRIES);
  #config: ListenerConfig;
  #row: CounterRow;
  #access: SecurityGroup | undefined;
  #responder: DnsResponder;
  #isReceiving = false;

  constructor(host: SessionHost, { config, row, upstreamOf }: DnsEntranceParts) {
    this.#host = host;
    this.#upstreamOf = upstreamOf;
    this.#config = config;
    this.#row = row;
    this.#access = config.access && new SecurityGroup(config.access);
    this.#responder = this.#createResponder(config, row);
  }

  accept(fd: StreamFd): void {
    const client = ipOf(fd.remoteAddress());
    if (!this.#allows(client, "TCP")) {
      fd.reset();
      return;
    }
    this.#makeRoom();
    const stream = new DnsStream(this.#host, fd, {
      listener: this.#config.key,
      responder: () => this.#responder,
      client,
      patienceMs: Math.min(this.#config.idleTimeoutMs, STREAM_PATIENCE_MS),
      onAsked: () => {
        this.#streams.delete(stream);
        this.#streams.add(stream);
      },
      onClosed: () => this.#streams.delete(stream),
    });
    this.#streams.add(stream);
    if (this.#host.isDraining) stream.drain();
  }

  addFront(fd: DatagramFd): void {
    this.#fronts.set(fd, new UdpFront(this.#host.net.loop, fd, this));
  }

  removeFront(fd: DatagramFd): void {
    this.#fronts.get(fd)?.leave();
    this.#fronts.delete(fd);
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
    for (const fd of [...this.#fronts.keys()]) this.removeFront(fd);
  }

  cacheEntries(): readonly DnsCacheEntry[] {
    return this.#cache.entries(this.#host.net.loop.nowMs);
  }

  dropCached(name: string): boolean {
    return this.#cache.drop(name);
  }

  describe(): ListenerRole {
    const { bytesIn, bytesOut } = this.#row.read();
    return { listener: this.#config.key, bytesIn, bytesOut };
  }

  pass(fd: DatagramFd, index: number): void {
    this.#isReceiving = true;
    const peer = fd.sender(index);
    const client = ipOf(peer.address);
    if (!this.#allows(client, "UDP")) return;
    const bytes = Buffer.from(fd.datagram(index));
    this.#responder.answer({ bytes, client, isOverTcp: false }, (answer) => {
      if (answer !== undefined) this.#send(fd, answer, peer);
    });
  }

  flush(): void {
    this.#isReceiving = false;
    for (const fd of this.#fronts.keys()) fd.flush();
  }

  /** Whoever holds all connections can not keep others out. */
  #makeRoom(): void {
    const [longestSilent] = this.#streams;
    if (longestSilent === undefined || this.#streams.size < MAX_STREAMS) return;
    this.#row.failed();
    longestSilent.abort();
  }

  /** Through another front of the address where the one that the question came by is gone. */
  #send(by: DatagramFd, answer: Buffer, to: DatagramPeer): void {
    const [other] = this.#fronts.keys();
    const fd = this.#fronts.has(by) ? by : other;
    if (fd === undefined) return;
    if (!fd.queue(answer, to)) {
      fd.flush();
      fd.queue(answer, to);
    }
    if (!this.#isReceiving) fd.flush();
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

/** Empty for unix sockets. */
function ipOf(address: SocketAddress): string {
  return address.family === "unix" ? "" : address.ip;
}

function namedGroups(upstream: UpstreamRuntime, fallsBack: boolean): NamedGroups {
  return {
    get hosts() {
      return upstream.hosts;
    },
    groupNamed: (host) => upstream.groupNamed(host, fallsBack),
  };
}
