import { ERRNO } from "../../platform/errno.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import { FrameReader } from "../../wire/http2/frame-reader.ts";
import { FRAME } from "../../wire/http2/protocol.ts";
import { KcpArq } from "../../wire/kcp/kcp-arq.ts";
import { KCP_MODES } from "../../wire/kcp/kcp-mode.ts";
import { ReplayWindow } from "../../wire/replay-window.ts";
import type { HostSelector } from "../host-selector.ts";
import { Timer } from "../timer-queue.ts";
import type { KcpHost } from "./kcp-host.ts";
import { type FirstWindows, KcpStream, type StreamCarrier } from "./kcp-stream.ts";
import type { SessionKeys } from "./noise-nn.ts";
import type { Sealer } from "./sealer.ts";
import { TunnelFrameHandler } from "./tunnel-frame-handler.ts";
import {
  END,
  FIRST_WINDOW_BYTES,
  frameHeader,
  goAway,
  LEAST_WINDOW_BYTES,
  MAX_DATA_BYTES,
  MAX_STREAM_ID,
  settings,
  windowUpdate,
} from "./tunnel-frames.ts";
import { WindowPool } from "./window-pool.ts";
import { MAX_COUNTER, putSealedHeader, SEALED_AT, TAG_BYTES } from "./wire-form.ts";

/** The socket of a tunnel, as the tunnel needs it. */
export interface TunnelSocket {
  localAddress(): SocketAddress;
  /** Whether anything may be sent to the other end yet. */
  isReady(tunnel: KcpTunnel): boolean;
  /** Sends a datagram to the other end of this tunnel. */
  send(tunnel: KcpTunnel, datagram: Uint8Array): void;
  /** The other end opened a stream; false where nobody wants it. */
  accept(stream: KcpStream): boolean;
  /** It has ended. */
  ended(tunnel: KcpTunnel): void;
}

export interface TunnelOptions {
  readonly isClient: boolean;
  readonly localIndex: number;
  readonly remote: SocketAddress;
}

/** How much of streams is put into the queue of KCP before the path takes it. */
const QUEUE_BYTES = 32_768;
/** A stream that was closed here, and not by the other end, is reset after so long. */
const ORPHAN_MS = 60_000;
/** How often an end is asked that seems to have forgotten the tunnel: one of the questions and its answer arrive. */
const DOUBT_QUESTIONS = 6;
const CONV = 0;
const PING_BYTES = 8;
const NOTHING = new Uint8Array(0);

/** A connection of two ends that know the same secret, with many streams in it. */
export class KcpTunnel implements StreamCarrier {
  readonly selector: HostSelector;
  readonly pool: WindowPool;
  readonly localIndex: number;
  readonly isClient: boolean;
  remote: SocketAddress;
  remoteIndex = 0;
  readonly #host: KcpHost;
  readonly #socket: TunnelSocket;
  readonly #arq: KcpArq;
  readonly #reader: FrameReader;
  readonly #streams = new Map<number, KcpStream>();
  readonly #waiting = new Set<KcpStream>();
  readonly #window = new ReplayWindow();
  readonly #timer: Timer;
  readonly #packet: Uint8Array;
  #sealer: Sealer | undefined;
  /** An end that says nothing of first windows knows nothing of ours. */
  #first: FirstWindows = { sendBytes: FIRST_WINDOW_BYTES, receiveBytes: FIRST_WINDOW_BYTES };
  #counter = 0;
  #nextId = 1;
  #newestId = 0;
  #resent = 0;
  #heardAtMs: number;
  #busySinceMs: number;
  #emptySinceMs: number;
  /** Why it ends as soon as it has nothing to do. */
  #farewell: string | undefined;
  /** Questions so far to an end that seems to have forgotten the tunnel, and when the next one is due. */
  #doubtQuestions = 0;
  #doubtAtMs = Number.POSITIVE_INFINITY;
  #isEnded = false;

  constructor(host: KcpHost, socket: TunnelSocket, options: TunnelOptions) {
    this.#host = host;
    this.#socket = socket;
    this.selector = host.selector;
    this.isClient = options.isClient;
    this.localIndex = options.localIndex;
    this.remote = options.remote;
    this.#heardAtMs = host.nowMs();
    this.#busySinceMs = this.#heardAtMs;
    this.#emptySinceMs = this.#heardAtMs;
    const { datagramBytes, windowSegments, fast, tunnelWindowBytes } = host.options;
    this.pool = new WindowPool(tunnelWindowBytes);
    const packetBytes = datagramBytes - SEALED_AT - TAG_BYTES;
    this.#packet = host.outgoing.bytes.subarray(SEALED_AT, SEALED_AT + packetBytes);
    this.#arq = new KcpArq({ conv: CONV, packetBytes, windowSegments, mode: KCP_MODES[fast] });
    this.#reader = new FrameReader(new TunnelFrameHandler(this));
    this.#timer = new Timer(() => this.#onTimer());
    this.#arq.push(settings(LEAST_WINDOW_BYTES));
  }

  get isOpen(): boolean {
    return this.#sealer !== undefined && !this.#isEnded;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Another stream can be opened in it. */
  get hasRoom(): boolean {
    if (this.#isEnded || this.#nextId > MAX_STREAM_ID) return false;
    return this.#streams.size < this.#host.options.maxStreams;
  }

  /** Something was said that has not arrived yet, perhaps on streams that are closed. */
  get isBusy(): boolean {
    return this.isOpen && (this.#waiting.size > 0 || !this.#arq.isIdle);
  }

  /** The handshake is done. */
  open(keys: SessionKeys, remoteIndex: number): void {
    this.#sealer = this.#host.options.createSealer(keys);
    this.remoteIndex = remoteIndex;
    this.#heardAtMs = this.nowMs();
    this.#busySinceMs = this.#heardAtMs;
    this.#host.markDirty(this);
  }

  /** A stream to the other end; it is open when that says so. */
  connect(): KcpStream {
    const stream = new KcpStream(this, this.#nextId, -ERRNO.EINPROGRESS, this.#first);
    this.#nextId += 2;
    this.#streams.set(stream.id, stream);
    this.#push(frameHeader(FRAME.HEADERS, 0, stream.id, 0));
    stream.widen();
    return stream;
  }

  /**
   * A sealed packet came, in the host's `incoming` from `start` on. True where it is genuine and new.
   */
  receive(counter: number, start: number, byteCount: number): boolean {
    const { counters, incoming } = this.#host;
    const sealer = this.#sealer;
    if (sealer === undefined || byteCount < 0) return false;
    if (!this.#window.isNew(counter)) {
      counters.replayedDatagrams += 1;
      return false;
    }
    if (!sealer.open(counter, incoming, start, byteCount)) {
      counters.forgedDatagrams += 1;
      return false;
    }
    this.#window.take(counter);
    const nowMs = this.nowMs();
    this.#heardAtMs = nowMs;
    this.#trust();
    this.#arq.input(incoming.bytes.subarray(start, start + byteCount), nowMs);
    for (let part = this.#arq.read(); part !== undefined; part = this.#arq.read()) {
      const bytes = Buffer.from(part.buffer, part.byteOffset, part.length);
      const code = this.#reader.read(bytes, 0, bytes.length);
      if (code !== 0 || this.#isEnded) {
        if (!this.#isEnded) this.end("what came is no frame of a tunnel", -ERRNO.EPROTO);
        return true;
      }
    }
    this.#host.markDirty(this);
    return true;
  }

  /** Sends what can be sent now, and sees to it that the rest is sent later. */
  flush(): void {
    if (!this.isOpen || !this.#socket.isReady(this)) return;
    const nowMs = this.nowMs();
    const arq = this.#arq;
    do {
      this.#fill();
      arq.flush(nowMs, this.#packet, this.#emit);
    } while (this.#waiting.size > 0 && arq.queuedBytes < QUEUE_BYTES);
    if (this.#waiting.size === 0) arq.noteAppLimited();
    this.#host.counters.resentSegments += arq.resentSegments - this.#resent;
    this.#resent = arq.resentSegments;
    this.#host.arm(this.#timer, this.#nextAtMs(nowMs));
    this.#endIfLeft();
  }

  /** Nobody comes any more: it ends when its streams have, and all that was said has arrived. */
  leave(reason: string): void {
    this.#farewell = reason;
    this.#endIfLeft();
  }

  /**
   * Somebody who knows the secret says that the other end does not know this tunnel. So would a loop of the server
   * that got a copy of what was meant for another one: as long as the tunnel itself is heard, it goes on.
   */
  doubt(): void {
    if (this.#doubtQuestions > 0 || !this.isOpen) return;
    this.#askInDoubt(this.nowMs());
  }

  /** Ends it for both ends, as far as the other one can be told. */
  end(reason: string, result: number): void {
    if (this.#isEnded) return;
    if (this.#socket.isReady(this) && this.isOpen) {
      this.#arq.push(goAway(reason));
      this.#arq.flush(this.nowMs(), this.#packet, this.#emit);
    }
    this.lost(result);
  }

  /** It is gone: the other end has ended it, or does not answer. */
  lost(result: number): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#host.disarm(this.#timer);
    for (const stream of [...this.#streams.values()]) stream.failed(result);
    this.#streams.clear();
    this.#waiting.clear();
    this.#sealer?.free();
    this.#sealer = undefined;
    this.#socket.ended(this);
  }

  // What its frames say.

  opened(streamId: number): boolean {
    if (this.isClient) {
      this.#streams.get(streamId)?.opened();
      return true;
    }
    if (streamId <= this.#newestId || streamId % 2 === 0) return false;
    this.#newestId = streamId;
    const stream = new KcpStream(this, streamId, 0, this.#first);
    if (this.#streams.size >= this.#host.options.maxStreams || !this.#socket.accept(stream)) {
      this.sendReset(stream);
      return true;
    }
    this.#streams.set(streamId, stream);
    this.#push(frameHeader(FRAME.HEADERS, 0, streamId, 0));
    stream.widen();
    return true;
  }

  /** The first word of the other end, which says it once: it counts for streams that are being opened, too. */
  settled(firstWindowBytes: number): void {
    const { sendBytes, receiveBytes } = this.#first;
    if (receiveBytes === LEAST_WINDOW_BYTES) return;
    this.#first = { sendBytes: firstWindowBytes, receiveBytes: LEAST_WINDOW_BYTES };
    for (const stream of this.#streams.values()) {
      stream.settled(firstWindowBytes - sendBytes, LEAST_WINDOW_BYTES - receiveBytes);
    }
  }

  stream(streamId: number): KcpStream | undefined {
    return this.#streams.get(streamId);
  }

  /** Answers a question, or refuses what belongs to no stream. */
  answer(type: number, flags: number, streamId: number, payload: Uint8Array): void {
    this.#push(Buffer.concat([frameHeader(type, flags, streamId, payload.length), payload]));
  }

  // What its streams need.

  localAddress(): SocketAddress {
    return this.#socket.localAddress();
  }

  remoteAddress(): SocketAddress {
    return this.remote;
  }

  nowMs(): number {
    return this.#host.nowMs();
  }

  wantsToSend(stream: KcpStream): void {
    if (this.#arq.isIdle) this.#busySinceMs = this.nowMs();
    this.#waiting.add(stream);
    this.#host.markDirty(this);
  }

  grant(stream: KcpStream, byteCount: number): void {
    this.#push(windowUpdate(stream.id, byteCount));
  }

  sendReset(stream: KcpStream): void {
    this.#push(frameHeader(FRAME.HEADERS, END, stream.id, 0));
  }

  forget(stream: KcpStream): void {
    this.#waiting.delete(stream);
    stream.leavePool();
    if (!this.#streams.delete(stream.id) || this.#streams.size > 0) return;
    this.#emptySinceMs = this.nowMs();
    this.#host.markDirty(this);
  }

  #endIfLeft(): void {
    if (this.#farewell === undefined || this.#streams.size > 0 || this.isBusy) return;
    this.end(this.#farewell, 0);
  }

  #push(bytes: Uint8Array): void {
    if (this.#isEnded) return;
    if (this.#arq.isIdle) this.#busySinceMs = this.nowMs();
    this.#arq.push(bytes);
    this.#host.markDirty(this);
  }

  /** One frame of each stream that waits, in turn. */
  #fill(): void {
    for (const stream of this.#waiting) {
      if (this.#arq.queuedBytes >= QUEUE_BYTES) return;
      this.#waiting.delete(stream);
      this.#pull(stream);
      if (stream.hasUnsent) this.#waiting.add(stream);
    }
  }

  #pull(stream: KcpStream): void {
    const bytes = stream.takeUnsent(MAX_DATA_BYTES) ?? NOTHING;
    const isLast = stream.takeFin();
    if (bytes.length === 0 && !isLast) return;
    this.#arq.push(frameHeader(FRAME.DATA, isLast ? END : 0, stream.id, bytes.length));
    this.#arq.push(bytes);
    if (isLast) stream.finLeft();
  }

  readonly #emit = (byteCount: number): void => {
    const { outgoing, outgoingView, counters } = this.#host;
    const counter = this.#counter;
    if (counter >= MAX_COUNTER) return;
    this.#counter += 1;
    putSealedHeader(outgoingView, counter, this.remoteIndex);
    this.#sealer?.seal(counter, outgoing, SEALED_AT, byteCount);
    const total = SEALED_AT + byteCount + TAG_BYTES;
    counters.datagramsOut += 1;
    counters.bytesOut += total;
    this.#socket.send(this, outgoing.bytes.subarray(0, total));
  };

  get #keepAliveMs(): number {
    const { clientKeepAliveMs, serverKeepAliveMs } = this.#host.options;
    return this.isClient ? clientKeepAliveMs : serverKeepAliveMs;
  }

  // Times, not spans, are compared: of numbers with a fraction, what is left of a span may be less than it.

  get #askAtMs(): number {
    return this.#arq.isIdle ? this.#heardAtMs + this.#keepAliveMs : Number.POSITIVE_INFINITY;
  }

  get #deadAtMs(): number {
    if (this.#arq.isIdle) return Number.POSITIVE_INFINITY;
    return Math.max(this.#heardAtMs, this.#busySinceMs) + this.#host.options.deadAfterMs;
  }

  get #idleAtMs(): number {
    if (!this.isClient || this.#streams.size > 0 || !this.#arq.isIdle) {
      return Number.POSITIVE_INFINITY;
    }
    return this.#emptySinceMs + this.#host.options.idleTimeoutMs;
  }

  #nextAtMs(nowMs: number): number {
    const arqAtMs = this.#arq.nextAtMs(nowMs);
    return Math.min(arqAtMs, this.#askAtMs, this.#deadAtMs, this.#idleAtMs, this.#doubtAtMs);
  }

  #onTimer(): void {
    const nowMs = this.nowMs();
    if (nowMs >= this.#deadAtMs) {
      this.#host.counters.lostTunnels += 1;
      this.lost(-ERRNO.ETIMEDOUT);
      return;
    }
    if (nowMs >= this.#doubtAtMs) {
      if (this.#doubtQuestions >= DOUBT_QUESTIONS) {
        this.#host.counters.lostTunnels += 1;
        this.lost(-ERRNO.ECONNRESET);
        return;
      }
      this.#askInDoubt(nowMs);
    }
    if (nowMs >= this.#idleAtMs) {
      this.end("nothing to do", -ERRNO.ECONNRESET);
      return;
    }
    if (nowMs >= this.#askAtMs) this.#ask(nowMs);
    this.#host.markDirty(this);
  }

  #askInDoubt(nowMs: number): void {
    this.#doubtQuestions += 1;
    this.#doubtAtMs = nowMs + this.#arq.rtoMs;
    this.#ask(nowMs);
    this.#host.markDirty(this);
  }

  #trust(): void {
    this.#doubtQuestions = 0;
    this.#doubtAtMs = Number.POSITIVE_INFINITY;
  }

  /** That it is acknowledged tells that the other end is there. */
  #ask(nowMs: number): void {
    this.#arq.push(
      Buffer.concat([frameHeader(FRAME.PING, 0, 0, PING_BYTES), Buffer.alloc(PING_BYTES)]),
    );
    this.#busySinceMs = nowMs;
    for (const stream of [...this.#streams.values()]) {
      if (!stream.isClosed || nowMs - stream.closedAtMs < ORPHAN_MS) continue;
      this.sendReset(stream);
      this.forget(stream);
    }
  }
}
