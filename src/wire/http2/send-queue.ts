import type { FrameWriter } from "./frame-writer.ts";
import type { Http2Stream } from "./http2-stream.ts";
import { CODE, DEFAULT_WINDOW, MAX_FRAME_BYTES, MAX_WINDOW } from "./protocol.ts";

/** Data is written while less than this waits to be sent; so one stream is never far ahead of another. */
const MAX_WAITING_BYTES = 49_152;

/** What goes out on one connection: as much as the windows allow, and the streams in turns. */
export class SendQueue {
  readonly #writer: FrameWriter;
  readonly #onEnded: (stream: Http2Stream) => void;
  #window: number = DEFAULT_WINDOW;
  /** Those that have kept something, and whose own window is open. */
  #ready: Http2Stream[] = [];

  /** @param onEnded is told when the end of a stream was written. */
  constructor(writer: FrameWriter, onEnded: (stream: Http2Stream) => void) {
    this.#writer = writer;
    this.#onEnded = onEnded;
  }

  /** Writes as much as windows and output allow: how many bytes. */
  write(stream: Http2Stream, bytes: Buffer, start: number, end: number, isEnd: boolean): number {
    let at = start;
    do {
      if (this.#writer.waitingBytes >= MAX_WAITING_BYTES) break;
      const window = Math.max(0, Math.min(this.#window, stream.sendWindow));
      const count = Math.min(window, MAX_FRAME_BYTES, end - at);
      if (count === 0 && (at < end || !isEnd)) break;
      const isLast = isEnd && at + count === end;
      this.#writer.data(stream.id, bytes, at, at + count, isLast);
      this.#window -= count;
      stream.sendWindow -= count;
      at += count;
      if (isLast) this.#onEnded(stream);
    } while (at < end);
    return at - start;
  }

  /** It has kept something. */
  add(stream: Http2Stream): void {
    if (stream.isQueued || stream.isClosed) return;
    stream.isQueued = true;
    this.#ready.push(stream);
  }

  /** Sends of what is kept, one frame of each stream in turn. */
  pump(): void {
    let sinceProgress = 0;
    while (this.#ready.length > sinceProgress && this.#hasRoom) {
      const stream = this.#ready.shift();
      if (stream === undefined) return;
      stream.isQueued = false;
      if (stream.isClosed) continue;
      const hasSent = stream.sendKept();
      sinceProgress = hasSent ? 0 : sinceProgress + 1;
      if (!stream.isClosed && stream.hasKept) this.#requeue(stream, hasSent);
    }
  }

  /** The peer takes more, on the connection: false where it is more than there may be. */
  openWindow(increment: number): boolean {
    this.#window += increment;
    return this.#window <= MAX_WINDOW;
  }

  /** The same on a stream. */
  openStreamWindow(stream: Http2Stream, increment: number): boolean {
    stream.sendWindow += increment;
    if (stream.hasKept && stream.sendWindow > 0) this.add(stream);
    return stream.sendWindow <= MAX_WINDOW;
  }

  /** The first window of streams is another one: what is open changes by the difference. */
  changeWindows(streams: readonly Http2Stream[], difference: number): number {
    for (const stream of streams) {
      if (!this.openStreamWindow(stream, difference)) return CODE.FLOW_CONTROL_ERROR;
    }
    return CODE.NO_ERROR;
  }

  get #hasRoom(): boolean {
    return this.#writer.waitingBytes < MAX_WAITING_BYTES;
  }

  /** One that waits for its own window is put back when that opens. */
  #requeue(stream: Http2Stream, hasSent: boolean): void {
    if (hasSent || stream.sendWindow > 0) this.add(stream);
  }
}
