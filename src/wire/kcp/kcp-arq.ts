import type { KcpMode } from "./kcp-mode.ts";
import type { OutSegment } from "./out-segment.ts";
import { ReceiveHalf } from "./receive-half.ts";
import {
  COMMAND,
  expandSerial,
  putSegmentHeader,
  SEGMENT_HEADER_BYTES,
  SegmentReader,
  SPAN_BYTES,
} from "./segment.ts";
import { SendHalf } from "./send-half.ts";

export interface ArqOptions {
  readonly conv: number;
  /** The most that a packet holds. */
  readonly packetBytes: number;
  /** Segments in each direction that may be on their way, or wait out of order. */
  readonly windowSegments: number;
  readonly mode: KcpMode;
}

const MAX_SPANS = 32;
/** An acknowledgement waits for no more than so many. */
const MAX_UNACKNOWLEDGED = 32;
const FIRST_ASK_MS = 200;
const MAX_ASK_MS = 10_000;
/** What may leave at once after a pause in which there was nothing to send. */
const MAX_BURST_MS = 4;
/** What a timer that is late may make up for, on a machine that has other things to do. */
const MAX_LATE_MS = 16;
const MIN_BURST_SEGMENTS = 4;

/**
 * One end of a reliable stream over packets that may be lost, doubled or out of order. It has no clock and sends
 * nothing by itself:
 *
 *     arq.push(bytes);                       // the stream that goes out
 *     arq.flush(nowMs, packet, (count) => socket.send(packet.subarray(0, count)));
 *     arq.input(received, nowMs);            // a packet came
 *     for (let part = arq.read(); part !== undefined; part = arq.read()) ...
 *     timer.at(arq.nextAtMs(nowMs));         // then flush again
 */
export class KcpArq {
  readonly #options: ArqOptions;
  readonly #sending: SendHalf;
  readonly #receiving: ReceiveHalf;
  /** Of the segment that came last: to be acknowledged. */
  #ackSn = -1;
  #ackTs = 0;
  #ackAtMs = Number.POSITIVE_INFINITY;
  #unacknowledged = 0;
  #mustTell = false;
  #wasShut = false;
  #askAtMs = Number.POSITIVE_INFINITY;
  #askAfterMs = FIRST_ASK_MS;
  /** When the next segment may leave, at the rate of the path. */
  #departAtMs = Number.NEGATIVE_INFINITY;
  /** There is more to send, which waits for that time alone. */
  #isPaced = false;
  #packet: Uint8Array = new Uint8Array(0);
  #view: DataView = new DataView(new ArrayBuffer(0));
  #filled = 0;

  constructor(options: ArqOptions) {
    this.#options = options;
    const { windowSegments, mode } = options;
    const segmentBytes = options.packetBytes - SEGMENT_HEADER_BYTES;
    this.#sending = new SendHalf({ segmentBytes, windowSegments, mode });
    this.#receiving = new ReceiveHalf(windowSegments);
  }

  /** Appends to the stream; takes a copy. */
  push(bytes: Uint8Array): void {
    this.#sending.push(bytes);
  }

  /** Bytes that were never sent yet. */
  get queuedBytes(): number {
    return this.#sending.queuedBytes;
  }

  /** Nothing waits, and all that was sent has arrived. */
  get isIdle(): boolean {
    return this.#sending.isIdle;
  }

  /** After so long without an answer, something is lost. */
  get rtoMs(): number {
    return this.#sending.rtt.rtoMs;
  }

  get resentSegments(): number {
    return this.#sending.resentSegments;
  }

  /** Of these, how many had arrived already. */
  get needlessResends(): number {
    return this.#sending.needlessResends;
  }

  read(): Uint8Array | undefined {
    const bytes = this.#receiving.read();
    if (bytes !== undefined && this.#wasShut) {
      this.#wasShut = false;
      this.#mustTell = true;
    }
    return bytes;
  }

  /** A packet came. False where it is none, or none of this connection; what of it is good is taken. */
  input(packet: Uint8Array, nowMs: number): boolean {
    const reader = new SegmentReader(packet);
    let end = 0;
    while (reader.next()) {
      if (reader.conv !== this.#options.conv) return false;
      this.#segment(reader, packet, nowMs);
      end = reader.start + reader.byteCount;
    }
    if (end > 0) this.#sending.settle(nowMs);
    return end > 0 && end === packet.length;
  }

  /**
   * Sends all that may be sent now: fills `packet`, which has room for `packetBytes`, and calls `emit` for each
   * one with how many bytes it has.
   */
  flush(nowMs: number, packet: Uint8Array, emit: (byteCount: number) => void): void {
    if (packet !== this.#packet) {
      this.#packet = packet;
      this.#view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength);
    }
    this.#filled = 0;
    const sending = this.#sending;
    if (nowMs >= this.#ackAtMs || this.#unacknowledged >= MAX_UNACKNOWLEDGED) {
      this.#acknowledge(nowMs, emit);
    }
    this.#probeWindow(nowMs, emit);
    sending.probe(nowMs);
    this.#send(nowMs, emit);
    if (this.#filled > 0) this.#emit(emit);
  }

  /** There is nothing more to push: what is measured from now on says little about the path. */
  noteAppLimited(): void {
    const sending = this.#sending;
    if (sending.queuedBytes > 0 || sending.flyingBytes >= sending.rate.windowBytes) return;
    sending.noteAppLimited();
  }

  /** When `flush` has something to do again; infinite where only a packet or `push` changes that. */
  nextAtMs(nowMs: number): number {
    if (this.#unacknowledged >= MAX_UNACKNOWLEDGED || this.#mustTell) return nowMs;
    const departAtMs = this.#sending.hasSendable ? this.#departAtMs : Number.POSITIVE_INFINITY;
    const askAtMs = this.#sending.isShut
      ? Math.min(this.#askAtMs, nowMs + this.#askAfterMs)
      : Number.POSITIVE_INFINITY;
    return Math.min(this.#ackAtMs, this.#sending.probeAtMs, departAtMs, askAtMs);
  }

  #segment(reader: SegmentReader, packet: Uint8Array, nowMs: number): void {
    const sending = this.#sending;
    sending.peerWindow = reader.window;
    // Before `una`, which mostly covers it: an answer to one transmission alone tells how long the way is.
    if (reader.command === COMMAND.ACK) {
      sending.acknowledge(expandSerial(reader.sn, sending.una), reader.ts, nowMs);
    }
    sending.acknowledgeBelow(expandSerial(reader.una, sending.una), nowMs);
    switch (reader.command) {
      case COMMAND.PUSH:
        this.#pushed(reader, packet, nowMs);
        return;
      case COMMAND.SPANS:
        for (let index = 0; index < reader.spanCount; index += 1) {
          const from = Math.max(sending.una, expandSerial(reader.spanFrom(index), sending.una));
          const end = Math.min(
            expandSerial(reader.spanEnd(index), sending.una),
            sending.una + this.#options.windowSegments,
          );
          for (let sn = from; sn < end; sn += 1) sending.acknowledge(sn, undefined, nowMs);
        }
        return;
      case COMMAND.ASK:
        this.#mustTell = true;
        return;
      default:
    }
  }

  #pushed(reader: SegmentReader, packet: Uint8Array, nowMs: number): void {
    const receiving = this.#receiving;
    const sn = expandSerial(reader.sn, receiving.next);
    const bytes = packet.subarray(reader.start, reader.start + reader.byteCount);
    const isBeyond = sn >= receiving.next + this.#options.windowSegments;
    if (!receiving.accept(sn, bytes) && isBeyond) return;
    if (receiving.window === 0) this.#wasShut = true;
    this.#ackSn = sn;
    this.#ackTs = reader.ts;
    this.#unacknowledged += 1;
    this.#ackAtMs = Math.min(this.#ackAtMs, nowMs + this.#options.mode.intervalMs);
  }

  #acknowledge(nowMs: number, emit: (byteCount: number) => void): void {
    if (this.#ackSn < 0) return;
    this.#put(COMMAND.ACK, this.#ackSn, this.#ackTs, 0, emit);
    if (this.#receiving.hasGaps) {
      const room = Math.min(
        MAX_SPANS,
        Math.floor((this.#options.packetBytes - this.#filled - SEGMENT_HEADER_BYTES) / SPAN_BYTES),
      );
      const header = this.#filled;
      this.#filled += SEGMENT_HEADER_BYTES;
      this.#receiving.eachSpan(room, (from, end) => {
        this.#view.setUint32(this.#filled, from, true);
        this.#view.setUint32(this.#filled + SPAN_BYTES / 2, end, true);
        this.#filled += SPAN_BYTES;
      });
      const byteCount = this.#filled - header - SEGMENT_HEADER_BYTES;
      this.#putHeader(header, COMMAND.SPANS, 0, Math.floor(nowMs), byteCount);
    }
    this.#unacknowledged = 0;
    this.#ackAtMs = Number.POSITIVE_INFINITY;
  }

  #probeWindow(nowMs: number, emit: (byteCount: number) => void): void {
    if (this.#mustTell) this.#put(COMMAND.TELL, 0, 0, 0, emit);
    this.#mustTell = false;
    if (!this.#sending.isShut) {
      this.#askAtMs = Number.POSITIVE_INFINITY;
      this.#askAfterMs = FIRST_ASK_MS;
      return;
    }
    if (nowMs >= this.#askAtMs) {
      this.#put(COMMAND.ASK, 0, 0, 0, emit);
      this.#askAfterMs = Math.min(this.#askAfterMs * 2, MAX_ASK_MS);
      this.#askAtMs = nowMs + this.#askAfterMs;
    } else if (this.#askAtMs === Number.POSITIVE_INFINITY) this.#askAtMs = nowMs + this.#askAfterMs;
  }

  #send(nowMs: number, emit: (byteCount: number) => void): void {
    const sending = this.#sending;
    const rate = sending.rate.pacingRate;
    const creditMs = this.#isPaced ? MAX_LATE_MS : MAX_BURST_MS;
    const burstMs = Math.max(creditMs, (MIN_BURST_SEGMENTS * this.#options.packetBytes) / rate);
    this.#departAtMs = Math.max(this.#departAtMs, nowMs - burstMs);
    while (sending.hasSendable && this.#departAtMs <= nowMs) {
      const segment = sending.take(nowMs);
      if (segment === undefined) break;
      this.#departAtMs += segment.byteCount / rate;
      this.#putSegment(segment, emit);
    }
    this.#isPaced = sending.hasSendable;
  }

  #putSegment(segment: OutSegment, emit: (byteCount: number) => void): void {
    this.#put(COMMAND.PUSH, segment.sn, segment.ts, segment.byteCount, emit);
    this.#packet.set(segment.bytes.subarray(0, segment.byteCount), this.#filled);
    this.#filled += segment.byteCount;
  }

  /** A header, with room behind it in the packet for its bytes. */
  #put(
    command: number,
    sn: number,
    ts: number,
    byteCount: number,
    emit: (byteCount: number) => void,
  ): void {
    const needed = SEGMENT_HEADER_BYTES + byteCount;
    if (this.#filled + needed > this.#options.packetBytes) this.#emit(emit);
    this.#putHeader(this.#filled, command, sn, ts, byteCount);
    this.#filled += SEGMENT_HEADER_BYTES;
  }

  #putHeader(at: number, command: number, sn: number, ts: number, byteCount: number): void {
    putSegmentHeader(this.#view, at, {
      conv: this.#options.conv,
      command,
      window: this.#receiving.window,
      ts,
      sn,
      una: this.#receiving.next,
      byteCount,
    });
  }

  #emit(emit: (byteCount: number) => void): void {
    const byteCount = this.#filled;
    this.#filled = 0;
    emit(byteCount);
  }
}
