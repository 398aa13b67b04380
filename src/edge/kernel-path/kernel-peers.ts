import type { WayTo } from "../../wire/netlink/route/route-question.ts";
import type { SessionKeys } from "../tunnel/noise-ik.ts";
import type { Peer } from "../tunnel/peer.ts";
import type { Session, SharedCounters } from "../tunnel/session.ts";
import { type Endpoint, peerValue, senderKey, senderValue } from "./entries.ts";
import type { KernelMap } from "./kernel-maps.ts";
import { KernelSession } from "./kernel-session.ts";
import {
  NOT_WANTED,
  type PeerMaps,
  PublishedPeer,
  type WantedPeer,
  type WantedSender,
} from "./published-peer.ts";
import type { RecordPool } from "./record-pool.ts";
import type { SharedRecord } from "./shared-record.ts";
import { v4EndpointOf } from "./v4-endpoint.ts";

export interface KernelPeersOptions {
  readonly peers: KernelMap;
  readonly senders: KernelMap;
  readonly records: RecordPool;
  /** Of peers without a key at one address it is the one that is heard. */
  readonly isHeard: (peer: Peer) => boolean;
  readonly localPort: number;
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

  /** Some of them, as the way there may be another one. */
  review(): void {
    this.#turn = (this.#turn + 1) % TURNS;
    for (const seat of this.#seats.values()) {
      if (seat.number % TURNS === this.#turn) this.#refresh(seat);
    }
  }

  /** Adds to what is known of peers what passed in the kernel. */
  collect(nowMs: number): void {
    for (const seat of this.#seats.values()) {
      for (const { record } of seat.sessions) count(seat.peer, record, nowMs);
      if (seat.record !== undefined) count(seat.peer, seat.record, nowMs);
    }
  }

  #seat(peer: Peer): Seat {
    const there = this.#seats.get(peer);
    if (there !== undefined) return there;
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    const published = new PublishedPeer(number, this.#maps);
    const seat: Seat = { peer, number, published, sessions: new Set(), record: undefined };
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
      count(seat.peer, session.record, seat.peer.lastReceivedMs);
    }
    this.#options.records.giveBack(session.record);
  }

  #giveBack(seat: Seat): void {
    if (seat.record === undefined) return;
    count(seat.peer, seat.record, seat.peer.lastReceivedMs);
    this.#options.records.giveBack(seat.record);
    seat.record = undefined;
  }

  #wanted(seat: Seat): WantedPeer {
    const { peer } = seat;
    const remote = v4EndpointOf(peer);
    if (remote === undefined || peer.isGone || peer.isCompat) return NOT_WANTED;
    const way = this.#options.wayTo(remote.ip);
    if (way === undefined) return NOT_WANTED;
    return peer.hasKey ? this.#byKey(seat, remote, way) : this.#byAddress(seat, remote, way);
  }

  #byKey(seat: Seat, remote: Endpoint, way: WayTo): WantedPeer {
    const { peer, number } = seat;
    const used = [...seat.sessions].flatMap((kernel) =>
      kernel.session === undefined ? [] : [{ kernel, session: kernel.session }],
    );
    const senders = used.map(({ kernel, session }): WantedSender => {
      const { mode } = session;
      const record = kernel.record.number;
      return {
        key: senderKey(session.localIndex, remote),
        value: senderValue({ mode, peer: number, localIp: way.source, record }),
        secret: mode === "secure" ? kernel.openingKey : undefined,
        // What is sealed is the peer's wherever it comes from.
        isElsewhereWrong: mode === "fast",
      };
    });
    const current = used.find(({ session }) => session === peer.session);
    if (current === undefined) return { sending: undefined, senders };
    const { kernel, session } = current;
    const value = peerValue({
      mode: session.mode,
      link: way.link,
      local: { ip: way.source, port: this.#options.localPort },
      remote,
      receiver: session.remoteIndex,
      record: kernel.record.number,
    });
    const secret = session.mode === "secure" ? kernel.sealingKey : undefined;
    return { sending: { value, secret }, senders };
  }

  #byAddress(seat: Seat, remote: Endpoint, way: WayTo): WantedPeer {
    const { peer, number } = seat;
    const { isHeard, records, localPort } = this.#options;
    if (!isHeard(peer)) return NOT_WANTED;
    seat.record ??= records.take();
    if (seat.record === undefined) return NOT_WANTED;
    const mode = "fast";
    const record = seat.record.number;
    const local = { ip: way.source, port: localPort };
    const value = peerValue({ mode, link: way.link, local, remote, receiver: 0, record });
    const sender = {
      key: senderKey(0, remote),
      value: senderValue({ mode, peer: number, localIp: way.source, record }),
      secret: undefined,
      isElsewhereWrong: true,
    };
    return { sending: { value, secret: undefined }, senders: [sender] };
  }
}

function count(peer: Peer, record: SharedRecord, nowMs: number): void {
  const { bytesIn, bytesOut, packetsIn } = record.takeTraffic();
  peer.bytesIn += bytesIn;
  peer.bytesOut += bytesOut;
  if (packetsIn > 0) peer.lastReceivedMs = Math.max(peer.lastReceivedMs, nowMs);
}
