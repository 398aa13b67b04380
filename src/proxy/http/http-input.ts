import type { NetEventLoop } from "../../net/net-event-loop.ts";
import type { RelayEnd } from "../relay/relay-end.ts";

const NO_BYTES = Buffer.alloc(0);

/** What was read from an end and is not used yet. */
export class HttpInput {
  readonly #net: NetEventLoop;
  #bytes: Buffer = NO_BYTES;

  constructor(net: NetEventLoop) {
    this.#net = net;
  }

  get bytes(): Buffer {
    return this.#bytes;
  }

  get isEmpty(): boolean {
    return this.#bytes.length === 0;
  }

  /** Reads once, and notes the end of the stream at the end: how many bytes, or a negative errno. */
  read(end: RelayEnd): number {
    const { scratch } = this.#net;
    const count = end.fd.read(scratch, 0, end.bufferBytes);
    if (count === 0) end.hasEnded = true;
    if (count > 0) {
      end.received += count;
      const chunk = Buffer.allocUnsafe(count);
      chunk.set(count === scratch.bytes.length ? scratch.bytes : scratch.bytes.subarray(0, count));
      this.#bytes = this.isEmpty ? chunk : Buffer.concat([this.#bytes, chunk]);
    }
    return count;
  }

  /** The first bytes are used. */
  drop(count: number): void {
    this.#bytes = count === this.#bytes.length ? NO_BYTES : this.#bytes.subarray(count);
  }

  /** Puts other bytes in place of what is there. */
  reset(bytes: Buffer = NO_BYTES): void {
    this.#bytes = bytes;
  }
}
