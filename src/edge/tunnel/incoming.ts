import type { NativeMemory } from "../../platform/linux/native-memory.ts";
import { AEAD_TAG_BYTES } from "../../platform/linux/openssl/aead-key.ts";
import { SegmentReceiver } from "../../platform/linux/segment-receiver.ts";
import { sockaddrKey } from "../../platform/linux/sockaddr.ts";
import type { PacketSink } from "./packet-sink.ts";
import type { Peer } from "./peer.ts";
import type { PeerBook } from "./peer-book.ts";
import type { Session } from "./session.ts";
import {
  counterAt,
  FAST_HEADER_BYTES,
  FLAG_CONTROL,
  RECEIVER_AT,
  SECURE_HEADER_BYTES,
  SECURE_PREFIX_BYTES,
  SEGMENT_BYTES,
  segmentFlags,
  TYPE_FAST,
  TYPE_INITIATION,
  TYPE_RESPONSE,
  TYPE_SECURE,
} from "./wire-form.ts";

const MESSAGES = 8;
const MAX_DATAGRAMS = 2048;

export interface IncomingCounts {
  datagrams: number;
  /** Of no kind that is known, too short, or of nobody that is known. */
  strange: number;
  /** Not sealed by who it says, or seen before. */
  notGenuine: number;
  /** Of a peer, from another address than it has, and nothing proves that it moved. */
  wrongAddress: number;
}

/** Where a datagram came from: a sockaddr in the memory of a receiver. */
export interface Sender {
  readonly names: NativeMemory;
  readonly at: number;
  readonly byteCount: number;
  readonly key: number | string;
}

export interface IncomingEvents {
  /** A message of a handshake, in memory that the next batch overwrites. */
  onHandshake(message: Buffer, sender: Sender): void;
  /** A message of a peer to the tunnel itself: in this memory, from here on. */
  onControl(peer: Peer, view: DataView, at: number, byteCount: number): void;
  /** The first message by a session that the other end began. */
  onConfirmed(session: Session): void;
  /** A genuine message came from another address than before. */
  onMoved(peer: Peer, sender: Sender): void;
  /** A message that proves nothing came by a session from another address. */
  onDoubtful(peer: Peer, sender: Sender): void;
}

export interface IncomingOptions {
  readonly descriptor: number;
  readonly book: PeerBook;
  readonly sink: PacketSink;
  readonly events: IncomingEvents;
  /** What may be a packet came from nobody that is known. */
  readonly onStranger?: (view: DataView, at: number, byteCount: number) => void;
}

/** Takes what comes from peers: tells who sent it, opens what is sealed, and passes packets on in runs. */
export class Incoming {
  readonly counts: IncomingCounts = { datagrams: 0, strange: 0, notGenuine: 0, wrongAddress: 0 };
  readonly #descriptor: number;
  readonly #book: PeerBook;
  readonly #sink: PacketSink;
  readonly #events: IncomingEvents;
  readonly #onStranger: IncomingOptions["onStranger"];
  readonly #receiver = new SegmentReceiver(MESSAGES);
  /** Of the message at hand: who sent each datagram, and where its packet begins; none where it is dealt with. */
  readonly #peers: (Peer | undefined)[] = new Array(MAX_DATAGRAMS).fill(undefined);
  readonly #heads = new Uint8Array(MAX_DATAGRAMS);

  constructor(options: IncomingOptions) {
    this.#descriptor = options.descriptor;
    this.#book = options.book;
    this.#sink = options.sink;
    this.#events = options.events;
    this.#onStranger = options.onStranger;
  }

  /** Takes a batch: how many messages. */
  receive(nowMs: number): number {
    const count = this.#receiver.receive(this.#descriptor);
    for (let index = 0; index < count; index += 1) this.#message(index, nowMs);
    return count;
  }

  #message(index: number, nowMs: number): void {
    const receiver = this.#receiver;
    const { memory, names } = receiver;
    const byteCount = receiver.lengthOf(index);
    const stride = receiver.segmentBytesOf(index);
    if (byteCount === 0 || stride <= 0) {
      this.counts.datagrams += 1;
      this.#strange();
      return;
    }
    const at = receiver.nameAt(index);
    const nameBytes = receiver.nameLengthOf(index);
    const key = sockaddrKey(names.view, at, nameBytes);
    const sender: Sender = { names, at, byteCount: nameBytes, key };
    const start = receiver.offsetOf(index);
    const count = Math.min(MAX_DATAGRAMS, Math.ceil(byteCount / stride));
    this.counts.datagrams += count;
    for (let each = 0; each < count; each += 1) {
      const from = start + each * stride;
      const bytes = Math.min(stride, start + byteCount - from);
      this.#heads[each] = 0;
      this.#peers[each] = this.#identify(memory, from, bytes, each, sender, nowMs);
    }
    const run = { memory, start, stride, byteCount, count, peers: this.#peers, heads: this.#heads };
    this.#sink.takeRuns(run, nowMs);
  }

  #identify(
    memory: NativeMemory,
    at: number,
    byteCount: number,
    each: number,
    sender: Sender,
    nowMs: number,
  ): Peer | undefined {
    const type = memory.view.getUint8(at);
    if (type === TYPE_SECURE) return this.#secure(memory, at, byteCount, each, sender, nowMs);
    if (type === TYPE_FAST) return this.#fast(memory, at, byteCount, each, sender, nowMs);
    if (type === TYPE_INITIATION || type === TYPE_RESPONSE) {
      this.#events.onHandshake(Buffer.from(memory.bytes.buffer, at, byteCount), sender);
      return undefined;
    }
    const isPacket = type >>> 4 === 4 || type >>> 4 === 6;
    if (!isPacket) return this.#strange();
    const peer = this.#book.compatAt(sender.key);
    if (peer === undefined) {
      this.#onStranger?.(memory.view, at, byteCount);
      return this.#strange();
    }
    return this.#heard(peer, byteCount, nowMs);
  }

  #fast(
    memory: NativeMemory,
    at: number,
    byteCount: number,
    each: number,
    sender: Sender,
    nowMs: number,
  ): Peer | undefined {
    if (byteCount < FAST_HEADER_BYTES) return this.#strange();
    const peer = this.#fastSender(memory.view.getUint32(at + RECEIVER_AT, true), sender);
    if (peer === undefined) return undefined;
    this.#heard(peer, byteCount, nowMs);
    const segment = at + FAST_HEADER_BYTES - SEGMENT_BYTES;
    if ((segmentFlags(memory.view, segment) & FLAG_CONTROL) !== 0) {
      // What is not sealed is heard only of peers that have no key.
      if (!peer.hasKey) {
        this.#events.onControl(
          peer,
          memory.view,
          at + FAST_HEADER_BYTES,
          byteCount - FAST_HEADER_BYTES,
        );
      }
      return undefined;
    }
    this.#heads[each] = FAST_HEADER_BYTES;
    return peer;
  }

  #fastSender(index: number, sender: Sender): Peer | undefined {
    if (index === 0) {
      const peer = this.#book.at(sender.key);
      return peer === undefined || peer.isCompat ? this.#strange() : peer;
    }
    const session = this.#book.session(index);
    const peer = session && this.#book.get(session.node);
    if (session?.mode !== "fast" || peer === undefined) return this.#strange();
    if (peer.endpointKey === sender.key) return peer;
    this.counts.wrongAddress += 1;
    this.#events.onDoubtful(peer, sender);
    return undefined;
  }

  #secure(
    memory: NativeMemory,
    at: number,
    byteCount: number,
    each: number,
    sender: Sender,
    nowMs: number,
  ): Peer | undefined {
    const sealed = byteCount - SECURE_PREFIX_BYTES - AEAD_TAG_BYTES;
    if (sealed < SEGMENT_BYTES) return this.#strange();
    const session = this.#book.session(memory.view.getUint32(at + RECEIVER_AT, true));
    const peer = session && this.#book.get(session.node);
    if (session === undefined || peer === undefined || !session.isUsable(nowMs)) {
      return this.#strange();
    }
    const counter = counterAt(memory.view, at);
    const from = memory.address + at + SECURE_PREFIX_BYTES;
    if (!session.open(counter, from, sealed)) {
      this.counts.notGenuine += 1;
      return undefined;
    }
    this.#heard(peer, byteCount, nowMs);
    if (peer.session !== session) this.#events.onConfirmed(session);
    // One that was overtaken may come from where the peer was before.
    const isElsewhere = peer.endpointKey !== sender.key && session.isNewest(counter);
    if (isElsewhere) this.#events.onMoved(peer, sender);
    const segment = at + SECURE_PREFIX_BYTES;
    if ((segmentFlags(memory.view, segment) & FLAG_CONTROL) !== 0) {
      this.#events.onControl(peer, memory.view, segment + SEGMENT_BYTES, sealed - SEGMENT_BYTES);
      return undefined;
    }
    this.#heads[each] = SECURE_HEADER_BYTES;
    return peer;
  }

  #heard(peer: Peer, byteCount: number, nowMs: number): Peer {
    peer.lastReceivedMs = nowMs;
    peer.bytesIn += byteCount;
    return peer;
  }

  #strange(): undefined {
    this.counts.strange += 1;
    return undefined;
  }
}
