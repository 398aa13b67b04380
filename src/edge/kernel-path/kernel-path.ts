import { messageOf } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { WayTo } from "../../wire/netlink/route/route-question.ts";
import type { FlowMirror } from "../flows/flow-mirror.ts";
import type { Target } from "../flows/packet-router.ts";
import type { PrefixMap } from "../flows/prefix-map.ts";
import type { SessionKeys } from "../tunnel/noise-ik.ts";
import type { Peer } from "../tunnel/peer.ts";
import type { Session, SharedCounters } from "../tunnel/session.ts";
import { numberBytes, settingValue } from "./entries.ts";
import { GuardedMap } from "./guarded-map.ts";
import { KernelFlows } from "./kernel-flows.ts";
import { KernelLinks } from "./kernel-links.ts";
import type { KernelMaps } from "./kernel-maps.ts";
import { KernelPeers } from "./kernel-peers.ts";
import { KernelRoutes } from "./kernel-routes.ts";
import { COUNTS } from "./layout.ts";
import { ofEachMap } from "./map-specs.ts";
import { RecordPool } from "./record-pool.ts";

/** What passed in the kernel, and whether anything does. */
export interface KernelPathStats {
  readonly isOpen: boolean;
  /** Why it is not. */
  readonly reason?: string | undefined;
  readonly sent: number;
  readonly received: number;
  /** Not genuine, or come before. */
  readonly refused: number;
  /** Lost, as the kernel did not give the room for it. */
  readonly failed: number;
}

/** Where there is none. */
export function noKernelPath(reason: string): KernelPathStats {
  return { isOpen: false, reason, sent: 0, received: 0, refused: 0, failed: 0 };
}

/** What a kernel path is made of: maps, programs and the network of this machine. */
export interface KernelParts {
  readonly maps: KernelMaps;
  readonly tun: number;
  readonly localPort: number;
  wayTo(ip: number): WayTo | undefined;
  /** Has the receiving program see what comes by a link of the network; returns how to end that. */
  attach(link: number): () => void;
  /** The programs end, and with them all that they do. */
  detachAll(): void;
  close(): void;
}

export interface KernelPathOptions {
  readonly parts: KernelParts;
  /** Of peers without a key at one address it is the one that is heard. */
  isHeard(peer: Peer): boolean;
  /** Of the clock of the tunnel. */
  nowMs(): number;
  /** Since the machine started, in nanoseconds. */
  nowNs(): number;
  readonly log: Log;
}

const THE_ONE: Uint8Array = numberBytes(0);

/**
 * Packets that pass in the kernel, beside a tunnel that can do without: programs are told by maps what the tunnel
 * knows, as it changes. What they are told is all, or they are stopped for good.
 */
export class KernelPath {
  readonly flows: FlowMirror<Target<Peer>>;
  readonly #options: KernelPathOptions;
  readonly #flows: KernelFlows<Peer>;
  readonly #peers: KernelPeers;
  readonly #routes: KernelRoutes<Peer>;
  readonly #links: KernelLinks;
  #brokenBy: string | undefined;

  constructor(options: KernelPathOptions) {
    this.#options = options;
    const { parts, nowMs, nowNs, log } = options;
    const guard = { isBroken: () => this.#brokenBy !== undefined, break: this.#break.bind(this) };
    const maps = ofEachMap((name) => new GuardedMap(parts.maps.maps[name], guard));
    this.#links = new KernelLinks({ attach: (link) => parts.attach(link), nowMs, log });
    this.#peers = new KernelPeers({
      peers: maps.peers,
      senders: maps.senders,
      records: new RecordPool(parts.maps.records, parts.maps.recordCount, nowMs),
      localPort: parts.localPort,
      nowMs,
      isHeard: options.isHeard,
      wayTo: (ip) => this.#wayTo(ip),
    });
    const numberOf = (peer: Peer): number => this.#peers.numberOf(peer);
    this.#routes = new KernelRoutes({ v4: maps.routesV4, v6: maps.routesV6 }, numberOf);
    this.#flows = new KernelFlows({
      flows: maps.flows,
      places: maps.places,
      numberOf,
      nowMs,
      nowNs,
    });
    this.flows = this.#flows;
  }

  /** Packets pass from now on. */
  begin(routes: PrefixMap<Target<Peer>>): void {
    this.#routes.follow(routes);
    try {
      if (this.#brokenBy === undefined) this.#turn(true);
    } catch (error) {
      this.#break(error);
    }
  }

  /** Counters for a new session; undefined where it has to do with its own. */
  share(keys: SessionKeys): SharedCounters | undefined {
    return this.#peers.share(keys);
  }

  /** Both ends are known to have a session, so it may be heard; packets go by it where it is the peer's. */
  use(peer: Peer, session: Session): void {
    this.#peers.use(peer, session);
  }

  /** Something of a peer has changed: where it is, how it is known, or whether it is there. */
  refresh(peer: Peer): void {
    this.#peers.refresh(peer);
  }

  /** Networks may be other ones' now, and instances or peers may be gone. */
  review(routes: PrefixMap<Target<Peer>>): void {
    this.#routes.follow(routes);
    this.#flows.review();
  }

  /** To be called every 250 ms. */
  tick(nowMs: number): void {
    this.#peers.collect(nowMs);
    if (this.#brokenBy !== undefined) return;
    this.#peers.review();
    this.#links.review();
  }

  stats(): KernelPathStats {
    this.#peers.collect(Number.NEGATIVE_INFINITY);
    const counts = this.#options.parts.maps.counts();
    return {
      isOpen: this.#brokenBy === undefined,
      reason: this.#brokenBy,
      sent: counts[COUNTS.sent] ?? 0,
      received: counts[COUNTS.received] ?? 0,
      refused: counts[COUNTS.refused] ?? 0,
      failed: counts[COUNTS.failed] ?? 0,
    };
  }

  /** After all sessions have ended: they count in memory that is gone then. */
  close(): void {
    this.#links.close();
    this.#options.parts.close();
  }

  #wayTo(ip: number): WayTo | undefined {
    if (this.#brokenBy !== undefined) return undefined;
    const way = this.#options.parts.wayTo(ip);
    if (way !== undefined) this.#links.need(way.link);
    return way;
  }

  #turn(isOn: boolean): void {
    const { maps, tun, localPort } = this.#options.parts;
    maps.maps.setting.set(THE_ONE, settingValue({ isOn, tun, localPort }));
  }

  /** Programs that do not know all would take packets of flows for others. */
  #break(error: unknown): void {
    if (this.#brokenBy !== undefined) return;
    this.#brokenBy = messageOf(error);
    const { parts, log } = this.#options;
    log.warn({ reason: this.#brokenBy }, "the kernel path is given up; the tunnel goes on without");
    try {
      this.#turn(false);
    } catch {
      // Without their links they are as good as off.
    }
    this.#links.close();
    parts.detachAll();
  }
}
