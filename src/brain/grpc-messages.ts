import type { Readable } from "node:stream";
import { FrameDecoder } from "../wire/grpc/frame-decoder.ts";

/**
 * The messages of a client, to be taken one at a time. While one waits to be taken, nothing is read beyond what came
 * with it: a client that says more than it is answered is held up.
 */
export class GrpcMessages {
  readonly #stream: Readable;
  readonly #decoder: FrameDecoder;
  /** Whether the decoder stands on a message that was not taken. */
  #isAhead = false;
  #isPaused = false;
  #isOver = false;
  #fault: { readonly error: unknown } | undefined;

  /** @param onMore called when there is something to take, and when nothing more will come */
  constructor(stream: Readable, maxMessageBytes: number, onMore: () => void) {
    this.#stream = stream;
    this.#decoder = new FrameDecoder(maxMessageBytes);
    stream.on("data", (chunk: Buffer) => {
      if (this.#isOver) return;
      this.#decoder.feed(chunk);
      onMore();
      if (!this.#isOver && this.#look()) this.#pause();
    });
    const over = (): void => {
      if (this.#isOver) return;
      this.#isOver = true;
      onMore();
    };
    stream.once("end", over);
    stream.once("close", over);
  }

  /** Whether the client has said all; what was not taken is still there. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * The next one, as the decoder stands on it: it is to be read before anything else is done. Undefined where there
   * is none at present.
   * @throws CoreError where what came is none, see `FrameDecoder`
   */
  take(): FrameDecoder | undefined {
    if (!this.#look()) {
      this.#goOn();
      return undefined;
    }
    if (this.#fault !== undefined) throw this.#fault.error;
    this.#isAhead = false;
    return this.#decoder;
  }

  /** Nothing is taken any more. */
  close(): void {
    this.#isOver = true;
  }

  #look(): boolean {
    if (this.#isAhead || this.#fault !== undefined) return true;
    try {
      this.#isAhead = this.#decoder.next();
    } catch (error) {
      this.#fault = { error };
    }
    return this.#isAhead || this.#fault !== undefined;
  }

  #pause(): void {
    this.#isPaused = true;
    this.#stream.pause();
  }

  #goOn(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#stream.resume();
  }
}
