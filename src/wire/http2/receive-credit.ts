import type { FrameWriter } from "./frame-writer.ts";
import type { Http2Config } from "./http2-config.ts";
import type { Http2Stream } from "./http2-stream.ts";
import { DEFAULT_WINDOW } from "./protocol.ts";

/** Told to the peer when so much of a window is used up: not for every frame. */
const SHARE_BEFORE_UPDATE = 2;
const CONNECTION = 0;

/** How much the peer may send: windows shrink with what comes and grow with what is used. */
export class ReceiveCredit {
  readonly #writer: FrameWriter;
  readonly #config: Http2Config;
  #window: number = DEFAULT_WINDOW;
  #uncredited = 0;

  constructor(writer: FrameWriter, config: Http2Config) {
    this.#writer = writer;
    this.#config = config;
  }

  /** With the first SETTINGS: the connection's window begins small, whatever they say. */
  begin(): void {
    const increment = this.#config.connectionWindowBytes - this.#window;
    if (increment <= 0) return;
    this.#window += increment;
    this.#writer.windowUpdate(CONNECTION, increment);
  }

  /** A frame of so many bytes comes: false where the peer may not. */
  takeFromConnection(length: number): boolean {
    this.#window -= length;
    if (this.#config.connectionCredit === "on-arrival") this.#creditConnection(length);
    return this.#window >= 0;
  }

  takeFromStream(stream: Http2Stream, length: number): boolean {
    stream.receiveWindow -= length;
    stream.unconsumed += length;
    return stream.receiveWindow >= 0;
  }

  consumed(stream: Http2Stream, byteCount: number): void {
    stream.unconsumed -= byteCount;
    this.skipped(byteCount);
    if (stream.isRemoteEnded) return;
    stream.uncredited += byteCount;
    if (stream.uncredited < this.#config.streamWindowBytes / SHARE_BEFORE_UPDATE) return;
    this.#writer.windowUpdate(stream.id, stream.uncredited);
    stream.receiveWindow += stream.uncredited;
    stream.uncredited = 0;
  }

  /** Bytes that nobody will use. */
  skipped(byteCount: number): void {
    if (this.#config.connectionCredit === "on-use") this.#creditConnection(byteCount);
  }

  #creditConnection(byteCount: number): void {
    this.#uncredited += byteCount;
    if (this.#uncredited < this.#config.connectionWindowBytes / SHARE_BEFORE_UPDATE) return;
    this.#writer.windowUpdate(CONNECTION, this.#uncredited);
    this.#window += this.#uncredited;
    this.#uncredited = 0;
  }
}
