import { randomInt } from "node:crypto";
import type { AeadCalls } from "../../platform/linux/openssl/aead-calls.ts";
import { AeadKey } from "../../platform/linux/openssl/aead-key.ts";
import {
  type Handshaker,
  type Initiated,
  initiate,
  isAddressedTo,
  markOf,
  readInitiation,
  readResponse,
  receiverOfResponse,
  respond,
  type SessionKeys,
} from "./noise-ik.ts";
import type { Peer } from "./peer.ts";
import type { PeerBook } from "./peer-book.ts";
import { Session, type SessionMode, type SharedCounters } from "./session.ts";
import { parsePublicKey } from "./tunnel-keys.ts";
import { TYPE_INITIATION } from "./wire-form.ts";

/** Another protocol than WireGuard's: what is agreed on is other than there. */
export const TUNNEL_IDENTIFIER = "Portolan tunnel v1";
/** WireGuard, 6.1. */
const RETRY_MS = 5000;
const GIVE_UP_MS = 90_000;
/** The end that did not begin a session begins the next one only where the other does not. */
const PATIENCE_MS = 30_000;
/** Each takes a few multiplications on the curve: so many a second are read, */
const MAX_READ_A_SECOND = 200;
/** of so many whose authenticator is looked at. Those that know nothing of this node take nothing from the others. */
const MAX_CHECKED_A_SECOND = 4000;
/** So many are known again: who just listens can repeat what others wrote, and not write anything. */
const MAX_MARKS = 4096;
const MODE_NUMBERS: Readonly<Record<SessionMode, number>> = { secure: 1, fast: 2 };
const MODES: readonly SessionMode[] = ["secure", "fast"];
const MAX_SESSIONS_A_PEER = 3;
/** TAI64N: seconds since 1970 with 2^62 added and the leap seconds of then, and nanoseconds. */
const TAI64_EPOCH = 0x4000_0000_0000_000an;
const STAMP_BYTES = 12;

export interface HandshakeCounts {
  /** Messages that are of nobody we know, or not genuine, or old. */
  refused: number;
  /** Genuine, but there is no mode that both allow. */
  noCommonMode: number;
  completed: number;
}

interface Pending {
  readonly peer: Peer;
  readonly index: number;
  readonly state: Initiated;
  readonly sinceMs: number;
  sentMs: number;
}

export interface HandshakesOptions {
  readonly handshaker: Handshaker;
  readonly book: PeerBook;
  readonly aead: AeadCalls;
  /** A session that is so old is followed by another. */
  readonly rekeyAfterMs: number;
  send(peer: Peer, message: Uint8Array): void;
  /** There is a session by which can be sent. */
  onSession(peer: Peer, session: Session): void;
  /** Counters for a new session where somebody else sends and receives by it, too. The keys are wiped after that. */
  readonly share?: (keys: SessionKeys) => SharedCounters | undefined;
  /** In milliseconds since 1970. */
  wallClockMs(): number;
}

/** Where a message came from. */
export interface HandshakeSender {
  /**
   * Sends to there. An initiation may be an old one that somebody else repeats, so it proves nothing of where
   * the peer is: it is followed when something comes by the session that is agreed on.
   */
  answer(peer: Peer, message: Uint8Array): void;
  /** It is the peer itself: what it says answers what was asked a moment ago. */
  isPeer(peer: Peer): void;
}

/** Agrees with peers on sessions: when there is none, and in time before one is too old. */
export class Handshakes {
  readonly counts: HandshakeCounts = { refused: 0, noCommonMode: 0, completed: 0 };
  readonly #options: HandshakesOptions;
  readonly #pending = new Map<string, Pending>();
  /** The newest initiation of each peer, by its key: older ones are repeated by somebody else. */
  readonly #newest = new Map<string, Buffer>();
  /** Of messages that were read, the oldest first. */
  readonly #marks = new Set<string>();
  #lastStamp = 0n;
  #toCheck = 0;
  #toRead = 0;
  #budgetMs = Number.NEGATIVE_INFINITY;

  constructor(options: HandshakesOptions) {
    this.#options = options;
  }

  /** A session is wanted; one handshake at a time. */
  want(peer: Peer, nowMs: number): void {
    const canBegin = peer.hasKey && peer.nameBytes > 0 && !peer.isGone;
    if (!canBegin || this.#pending.has(peer.node)) return;
    this.#begin(peer, nowMs, nowMs);
  }

  forget(peer: Peer): void {
    this.#pending.delete(peer.node);
    const { book } = this.#options;
    for (const session of book.sessions) if (session.node === peer.node) book.dropSession(session);
  }

  onMessage(message: Buffer, nowMs: number, sender: HandshakeSender): void {
    if (!this.#mayRead(message, nowMs)) this.counts.refused += 1;
    else if (message[0] === TYPE_INITIATION) this.#onInitiation(message, nowMs, sender);
    else this.#onResponse(message, nowMs, sender);
  }

  /** Repeats what was not answered, and begins anew where a session gets old. */
  tick(nowMs: number): void {
    for (const pending of [...this.#pending.values()]) {
      if (nowMs - pending.sentMs < RETRY_MS) continue;
      this.#pending.delete(pending.peer.node);
      const isOver = nowMs - pending.sinceMs >= GIVE_UP_MS || pending.peer.isGone;
      if (!isOver) this.#begin(pending.peer, nowMs, pending.sinceMs);
    }
    for (const session of this.#options.book.sessions) this.#review(session, nowMs);
  }

  #review(session: Session, nowMs: number): void {
    const { book } = this.#options;
    const peer = book.get(session.node);
    if (!session.isUsable(nowMs) || peer === undefined) {
      book.dropSession(session);
      return;
    }
    const limitMs = this.#options.rekeyAfterMs + (session.isInitiator ? 0 : PATIENCE_MS);
    const isOld = nowMs - session.createdMs >= limitMs || session.isWorn;
    if (peer.session === session && isOld) this.want(peer, nowMs);
  }

  #begin(peer: Peer, nowMs: number, sinceMs: number): void {
    const { handshaker } = this.#options;
    const index = this.#freeIndex();
    const payload = Buffer.concat([this.#stamp(), modeBytes(modesOf(peer))]);
    const remote = parsePublicKey(peer.spec.publicKey ?? "");
    const begun = initiate(handshaker, remote, { senderIndex: index, payload });
    if (begun === undefined) return;
    this.#pending.set(peer.node, { peer, index, state: begun.state, sinceMs, sentMs: nowMs });
    this.#options.send(peer, begun.message);
  }

  #onInitiation(message: Buffer, nowMs: number, sender: HandshakeSender): void {
    const { handshaker, book } = this.#options;
    const received = readInitiation(handshaker, message);
    const key = received?.publicKey.toString("base64") ?? "";
    const peer = book.withKey(key);
    const stamp = received?.payload.subarray(0, STAMP_BYTES);
    const newest = this.#newest.get(key);
    const isOld =
      stamp?.length !== STAMP_BYTES || (newest !== undefined && newest.compare(stamp) >= 0);
    if (received === undefined || peer === undefined || isOld) {
      this.counts.refused += 1;
      return;
    }
    this.#newest.set(key, Buffer.from(stamp));
    const offered = readModes(received.payload.subarray(STAMP_BYTES));
    const mode = modesOf(peer).find((own) => offered.includes(own));
    if (mode === undefined) {
      this.counts.noCommonMode += 1;
      return;
    }
    const index = this.#freeIndex();
    const answer = respond(received, { senderIndex: index, payload: modeBytes([mode]) });
    if (answer === undefined) return;
    // It is used for sending when the first message by it shows that the other end has it, too.
    this.#add(peer, answer.keys, {
      mode,
      isInitiator: false,
      createdMs: nowMs,
      localIndex: index,
      remoteIndex: received.senderIndex,
    });
    sender.answer(peer, answer.message);
  }

  #onResponse(message: Buffer, nowMs: number, sender: HandshakeSender): void {
    const receiver = receiverOfResponse(message);
    const pending = [...this.#pending.values()].find(({ index }) => index === receiver);
    const read = pending && readResponse(this.#options.handshaker, pending.state, message);
    if (pending === undefined || read === undefined) {
      this.counts.refused += 1;
      return;
    }
    const { peer } = pending;
    const [mode] = readModes(read.payload);
    if (mode === undefined || !modesOf(peer).includes(mode)) {
      this.counts.noCommonMode += 1;
      return;
    }
    this.#pending.delete(peer.node);
    sender.isPeer(peer);
    const session = this.#add(peer, read.keys, {
      mode,
      isInitiator: true,
      createdMs: nowMs,
      localIndex: pending.index,
      remoteIndex: read.senderIndex,
    });
    this.use(peer, session);
  }

  /** From now on packets go by this session. */
  use(peer: Peer, session: Session): void {
    peer.session = session;
    this.counts.completed += 1;
    this.#options.onSession(peer, session);
  }

  #add(
    peer: Peer,
    keys: SessionKeys,
    options: {
      readonly mode: SessionMode;
      readonly isInitiator: boolean;
      readonly createdMs: number;
      readonly localIndex: number;
      readonly remoteIndex: number;
    },
  ): Session {
    const { aead, book } = this.#options;
    const session = new Session({
      ...options,
      node: peer.node,
      sealing: new AeadKey(aead, keys.sealing, "seal"),
      opening: new AeadKey(aead, keys.opening, "open"),
      shared: this.#options.share?.(keys),
    });
    // OpenSSL has its own copies from here on.
    for (const key of [keys.sealing, keys.opening]) key.fill(0);
    const others = book.sessions.filter((each) => each.node === peer.node && each !== peer.session);
    for (const old of others.slice(0, -(MAX_SESSIONS_A_PEER - 1))) book.dropSession(old);
    book.addSession(session);
    return session;
  }

  #freeIndex(): number {
    const { book } = this.#options;
    const taken = new Set([...this.#pending.values()].map(({ index }) => index));
    for (;;) {
      const index = randomInt(1, 2 ** 32);
      if (!book.hasIndex(index) && !taken.has(index)) return index;
    }
  }

  #mayRead(message: Buffer, nowMs: number): boolean {
    if (nowMs - this.#budgetMs >= 1000) {
      this.#toCheck = MAX_CHECKED_A_SECOND;
      this.#toRead = MAX_READ_A_SECOND;
      this.#budgetMs = nowMs;
    }
    this.#toCheck -= 1;
    if (this.#toCheck < 0 || !isAddressedTo(this.#options.handshaker, message)) return false;
    const mark = markOf(message);
    if (this.#marks.has(mark)) return false;
    this.#toRead -= 1;
    if (this.#toRead < 0) return false;
    const [oldest] = this.#marks;
    if (this.#marks.size >= MAX_MARKS && oldest !== undefined) this.#marks.delete(oldest);
    this.#marks.add(mark);
    return true;
  }

  /** Never the same twice, and never an older one, as long as the clock of the machine goes on. */
  #stamp(): Buffer {
    const nowNs = BigInt(Math.floor(this.#options.wallClockMs() * 1000)) * 1000n;
    this.#lastStamp = nowNs > this.#lastStamp ? nowNs : this.#lastStamp + 1n;
    const bytes = Buffer.alloc(STAMP_BYTES);
    bytes.writeBigUInt64BE(TAI64_EPOCH + this.#lastStamp / 1_000_000_000n);
    bytes.writeUInt32BE(Number(this.#lastStamp % 1_000_000_000n), 8);
    return bytes;
  }
}

function modesOf({ spec }: Peer): readonly SessionMode[] {
  return spec.modes.flatMap((mode) => (mode === "compat" ? [] : [mode]));
}

function modeBytes(modes: readonly SessionMode[]): Buffer {
  const bytes = Buffer.alloc(MODES.length);
  bytes.set(modes.map((mode) => MODE_NUMBERS[mode]));
  return bytes;
}

function readModes(bytes: Uint8Array): readonly SessionMode[] {
  return [...bytes].flatMap((byte) => MODES.find((mode) => MODE_NUMBERS[mode] === byte) ?? []);
}
