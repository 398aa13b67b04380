import type { Http2Stream } from "./http2-stream.ts";
import { CODE, FLAG } from "./protocol.ts";
import type { ReceiveCredit } from "./receive-credit.ts";
import type { StreamTable } from "./stream-table.ts";

/** What a connection does about what is found. Those that return a number give an error code, or 0. */
export interface DataRules {
  unknownStream(streamId: number): number;
  streamError(stream: Http2Stream, code: number): number;
  /** A frame came that moves nothing. */
  idleFrame(): number;
  /** Bytes came. */
  moved(): void;
  /** The owner was told. */
  received(stream: Http2Stream): void;
}

/** Follows the DATA frames of a connection: windows, lengths that were announced, and ends. */
export class DataReceiver {
  readonly #streams: StreamTable;
  readonly #credit: ReceiveCredit;
  readonly #rules: DataRules;
  #stream: Http2Stream | undefined;
  #flags = 0;
  /** Of the frame: what was not shown as data; at its end, the padding. */
  #overheadBytes = 0;

  constructor(streams: StreamTable, credit: ReceiveCredit, rules: DataRules) {
    this.#streams = streams;
    this.#credit = credit;
    this.#rules = rules;
  }

  begin(flags: number, streamId: number, length: number): number {
    if (this.#streams.isIdle(streamId)) return CODE.PROTOCOL_ERROR;
    if (!this.#credit.takeFromConnection(length)) return CODE.FLOW_CONTROL_ERROR;
    const stream = this.#streams.get(streamId);
    this.#stream = stream;
    this.#flags = flags;
    this.#overheadBytes = length;
    if (stream === undefined || stream.isRemoteEnded) {
      this.#credit.skipped(length);
      return stream === undefined
        ? this.#rules.unknownStream(streamId)
        : this.#rules.streamError(stream, CODE.STREAM_CLOSED);
    }
    if (this.#credit.takeFromStream(stream, length)) return CODE.NO_ERROR;
    return this.#rules.streamError(stream, CODE.FLOW_CONTROL_ERROR);
  }

  part(bytes: Buffer, start: number, end: number, isLast: boolean): number {
    const count = end - start;
    this.#overheadBytes -= count;
    const stream = this.#stream;
    if (stream === undefined || stream.isClosed) return CODE.NO_ERROR;
    stream.receivedBytes += count;
    const isEnd = isLast && (this.#flags & FLAG.END_STREAM) !== 0;
    if (isLast && this.#overheadBytes > 0) this.#credit.consumed(stream, this.#overheadBytes);
    const isTooMuch = stream.announcedBytes >= 0 && stream.receivedBytes > stream.announcedBytes;
    if (isTooMuch || (isEnd && !stream.isAsAnnounced)) {
      return this.#rules.streamError(stream, CODE.PROTOCOL_ERROR);
    }
    if (count > 0) this.#rules.moved();
    else if (!isEnd) return this.#rules.idleFrame();
    if (isEnd) stream.isRemoteEnded = true;
    stream.owner.dataArrived(bytes, start, end, isEnd);
    this.#rules.received(stream);
    return CODE.NO_ERROR;
  }
}
