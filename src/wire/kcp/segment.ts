/**
 * # The segments of KCP
 *
 * A packet holds one or more segments, all numbers little-endian:
 *
 *     conv (4) | cmd (1) | frg (1) | wnd (2) | ts (4) | sn (4) | una (4) | len (4) | len bytes
 *
 * `wnd` is how many segments the sender still has room for, `una` the first that it has not received, `ts` its
 * clock in milliseconds. PUSH carries bytes of the stream; ACK says `sn` and `ts` of a PUSH that came. ASK wants
 * the other side's window, TELL tells it. In stream mode `frg` is always 0.
 *
 * SPANS is of this implementation: pairs of numbers (from, and one past the end) of what came beyond `una`, the
 * latest first. A lost acknowledgement is so made good by the next one, and nothing is sent twice for it.
 */
export const COMMAND = { PUSH: 81, ACK: 82, ASK: 83, TELL: 84, SPANS: 85 } as const;

export const SEGMENT_HEADER_BYTES = 24;
export const SPAN_BYTES = 8;

const CMD_AT = 4;
const WND_AT = 6;
const TS_AT = 8;
const SN_AT = 12;
const UNA_AT = 16;
const LEN_AT = 20;

/** The numbers of a segment; `sn`, `una` and `ts` may be of any size: their lower 32 bits are written. */
export interface SegmentHeader {
  readonly conv: number;
  readonly command: number;
  readonly window: number;
  readonly ts: number;
  readonly sn: number;
  readonly una: number;
  readonly byteCount: number;
}

export function putSegmentHeader(view: DataView, at: number, header: SegmentHeader): void {
  view.setUint32(at, header.conv, true);
  view.setUint16(at + CMD_AT, header.command, true);
  view.setUint16(at + WND_AT, Math.min(header.window, 0xffff), true);
  view.setUint32(at + TS_AT, header.ts, true);
  view.setUint32(at + SN_AT, header.sn, true);
  view.setUint32(at + UNA_AT, header.una, true);
  view.setUint32(at + LEN_AT, header.byteCount, true);
}

/** Goes from segment to segment of a packet; its fields are of the one it stands at. */
export class SegmentReader implements SegmentHeader {
  conv = 0;
  command = 0;
  window = 0;
  ts = 0;
  sn = 0;
  una = 0;
  /** Where its bytes begin in the packet. */
  start = 0;
  byteCount = 0;
  readonly #view: DataView;
  #at = 0;

  constructor(packet: Uint8Array) {
    this.#view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength);
  }

  /** False at the end, or where what follows is no segment. */
  next(): boolean {
    const view = this.#view;
    const at = this.#at;
    if (view.byteLength - at < SEGMENT_HEADER_BYTES) return false;
    this.conv = view.getUint32(at, true);
    this.command = view.getUint8(at + CMD_AT);
    this.window = view.getUint16(at + WND_AT, true);
    this.ts = view.getUint32(at + TS_AT, true);
    this.sn = view.getUint32(at + SN_AT, true);
    this.una = view.getUint32(at + UNA_AT, true);
    this.byteCount = view.getUint32(at + LEN_AT, true);
    this.start = at + SEGMENT_HEADER_BYTES;
    if (this.byteCount > view.byteLength - this.start) return false;
    if (this.command < COMMAND.PUSH || this.command > COMMAND.SPANS) return false;
    this.#at = this.start + this.byteCount;
    return true;
  }

  /** Of a SPANS segment: how many pairs it has. */
  get spanCount(): number {
    return Math.floor(this.byteCount / SPAN_BYTES);
  }

  spanFrom(index: number): number {
    return this.#view.getUint32(this.start + index * SPAN_BYTES, true);
  }

  spanEnd(index: number): number {
    return this.#view.getUint32(this.start + index * SPAN_BYTES + SPAN_BYTES / 2, true);
  }
}

/** The number whose lower 32 bits are `wire` and that is nearest to `near`. */
export function expandSerial(wire: number, near: number): number {
  return near + ((wire - near) | 0);
}
