import type { WayTo } from "../../wire/netlink/route/route-question.ts";
import type { SessionKeys } from "../tunnel/noise-ik.ts";
import type { Peer } from "../tunnel/peer.ts";
import type { Session, SharedCounters } from "../tunnel/session.ts";
import { FloodGuard } from "./flood-guard.ts";
import type { KernelMap } from "./kernel-maps.ts";
import { KernelSession } from "./kernel-session.ts";
import { NOT_WANTED, type PeerMaps, PublishedPeer, type WantedPeer } from "./published-peer.ts";
import type { RecordPool } from "./record-pool.ts";
import type { SharedRecord } from "./shared-record.ts";
import { v4EndpointOf } from "./v4-endpoint.ts";
import { type PeerWay, wantedByAddress, wantedByKey } from "./wanted-peer.ts";

export interface KernelPeersOptions {
  readonly peers: KernelMap;
  readonly senders: KernelMap;
  readonly records: RecordPool;
  /** Of peers without a key at one address it is the one that is heard. */
  readonly isHeard: (peer: Peer) => boolean;
  readonly localPort: number;
  readonly nowMs: () => number;
  /** By which packets can be sent from here; undefined where there is none. */
  readonly wayTo: (ip: number) => WayTo | undefined;
}

interface Seat {
  readonly peer: Peer;
  readonly number: number;
  readonly published: PublishedPeer;
  /** Those that are known to be the other end's, too. */
  readonly sessions: Set<KernelSession>;
  /** Of a peer without a key, once it is published. */
  record: SharedRecord | undefined;
  readonly flood: FloodGuard;
}

/** All are looked at again within so many turns. */
const TURNS = 4;

/** The peers of a tunnel in the maps of the kernel path, as far as it can serve them. */
export class KernelPeers {
  readonly #options: KernelPeersOptions;
  readonly #maps: PeerMaps;
  readonly #seats = new Map<Peer, Seat>();
  #lastNumber = 0;
  #turn = 0;

  constructor(options: KernelPeersOptions) {
    this.#options = options;
    this.#maps = { peers: options.peers, senders: options.senders, owners: new Map() };
  }

  /** By which maps know a peer: no other one is ever known by it. */
  numberOf(peer: Peer): number {
    return this.#seat(peer).number;
  }

  /** Counters for a new session; undefined where it has to do with its own. The keys are copied. */
  share(keys: SessionKeys): SharedCounters | undefined {
    const { records } = this.#options;
    const record = records.take();
    return record && new KernelSession(record, keys, (session) => this.#release(session));
  }

  /** Both ends are known to have a session, so it may be heard; packets go by it where it is the peer's. */
  use(peer: Peer, session: Session): void {
    const seat = this.#seat(peer);
    const { shared } = session;
    if (shared instanceof KernelSession) {
      const isHeard = seat.sessions.has(shared);
      if (isHeard && peer.session !== session) return;
      shared.session = session;
      seat.sessions.add(shared);
    }
    this.#refresh(seat);
  }

  /** Something of it has changed: where it is, how it is known, or whether it is there. */
  refresh(peer: Peer): void {
    const seat = this.#seats.get(peer);
    if (peer.isGone && seat !== undefined) this.#remove(seat);
    else if (!peer.isGone) this.#refresh(this.#seat(peer));
  }

  /** Some of them, as the way there may be another one; and all that are sent very many packets. */
  review(): void {
    const nowMs = this.#options.nowMs();
    this.#turn = (this.#turn + 1) % TURNS;
    for (const seat of this.#seats.values()) {
      const { flood, number, peer } = seat;
      const wasHeld = flood.isHeld(nowMs);
      flood.look(nowMs, peer.bytesOut);
      const isOther = wasHeld || flood.isHeld(nowMs);
      if (number % TURNS === this.#turn || isOther) this.#refresh(seat);
    }
  }

  /** Adds to what is known of peers what passed in the kernel. */
  collect(nowMs: number): void {
    for (const seat of this.#seats.values()) {
      for (const { record } of seat.sessions) count(seat, record, nowMs);
      if (seat.record !== undefined) count(seat, seat.record, nowMs);
    }
  }

  #seat(peer: Peer): Seat {
    const there = this.#seats.get(peer);
    if (there !== undefined) return there;
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    const published = new PublishedPeer(number, this.#maps);
    const flood = new FloodGuard();
    const seat: Seat = { peer, number, published, sessions: new Set(), record: undefined, flood };
    this.#seats.set(peer, seat);
    return seat;
  }

  #refresh(seat: Seat): void {
    seat.published.become(this.#wanted(seat));
    if (seat.record !== undefined && seat.peer.hasKey) this.#giveBack(seat);
  }

  #remove(seat: Seat): void {
    seat.published.become(NOT_WANTED);
    this.#giveBack(seat);
    if (seat.sessions.size === 0) this.#seats.delete(seat.peer);
  }

  /** First nothing leads to it any more, then its record may be another one's. */
  #release(session: KernelSession): void {
    for (const seat of this.#seats.values()) {
      if (!seat.sessions.delete(session)) continue;
      this.#refresh(seat);
      count(seat, session.record, seat.peer.lastReceivedMs);
    }
    this.#options.records.giveBack(session.record);
  }

  #giveBack(seat: Seat): void {
    if (seat.record === undefined) return;
    count(seat, seat.record, seat.peer.lastReceivedMs);
    this.#options.records.giveBack(seat.record);
    seat.record = undefined;
  }

  #wanted(seat: Seat): WantedPeer {
    const { peer } = seat;
    const remote = v4EndpointOf(peer);
    if (remote === undefined || peer.isGone || peer.isCompat) return NOT_WANTED;
    const way = this.#options.wayTo(remote.ip);
    if (way === undefined) return NOT_WANTED;
    const { localPort } = this.#options;
    const found = { peer: seat.number, remote, link: way.link, localIp: way.source, localPort };
    const wanted = peer.hasKey
      ? wantedByKey(found, [...seat.sessions], peer.session)
      : this.#byAddress(seat, found);
    return seat.flood.isHeld(this.#options.nowMs()) ? { ...wanted, sending: undefined } : wanted;
  }

  #byAddress(seat: Seat, way: PeerWay): WantedPeer {
    const { isHeard, records } = this.#options;
    if (!isHeard(seat.peer)) return NOT_WANTED;
    seat.record ??= records.take();
    return seat.record === undefined ? NOT_WANTED : wantedByAddress(way, seat.record.number);
  }
}

function count({ peer, flood }: Seat, record: SharedRecord, nowMs: number): void {
  const { bytesIn, bytesOut, packetsIn, packetsOut } = record.takeTraffic();
  flood.noteSent(packetsOut);
  peer.bytesIn += bytesIn;
  peer.bytesOut += bytesOut;
  if (packetsIn > 0) peer.lastReceivedMs = Math.max(peer.lastReceivedMs, nowMs);
}
