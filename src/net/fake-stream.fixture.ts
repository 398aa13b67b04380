import { ERRNO } from "../platform/errno.ts";
import { ipAddress, type SocketAddress } from "../platform/socket-address.ts";
import type { HandOff, SpliceEnd, StreamFd } from "./fd.ts";
import type { Region } from "./region.ts";

/** A stream that does what a test tells it to: what reads bring, what writes take. */
export class FakeStream implements StreamFd {
  readonly splice: SpliceEnd | undefined = undefined;
  readable = true;
  writable = true;
  isClosed = false;
  written = "";
  readonly #reads: (string | number)[];
  readonly #takes: number[];
  readonly #attachResult: number;

  constructor(does: {
    readonly reads?: readonly (string | number)[];
    readonly takes?: readonly number[];
    /** What the loop hears when it wants to watch it. */
    readonly attach?: number;
  }) {
    this.#reads = [...(does.reads ?? [])];
    this.#takes = [...(does.takes ?? [])];
    this.#attachResult = does.attach ?? 0;
  }

  read(region: Region, start: number, byteCount: number): number {
    const next = this.#reads.shift() ?? -ERRNO.EAGAIN;
    if (typeof next === "number") {
      this.readable = false;
      return next;
    }
    const taken = next.slice(0, byteCount);
    if (taken.length < next.length) this.#reads.unshift(next.slice(taken.length));
    region.bytes.set(Buffer.from(taken), start);
    return taken.length;
  }

  write(region: Region, start: number, byteCount: number): number {
    const most = this.#takes.shift() ?? -ERRNO.EAGAIN;
    const taken = Math.min(most, byteCount);
    if (taken < byteCount) this.writable = false;
    if (taken > 0)
      this.written += Buffer.from(region.bytes.subarray(start, start + taken)).toString();
    return taken;
  }

  finishOpen(): number {
    return 0;
  }

  takeError(): number {
    return 0;
  }

  shutdownWrite(): number {
    return 0;
  }

  reset(): void {
    this.close();
  }

  close(): void {
    this.isClosed = true;
  }

  localAddress(): SocketAddress {
    return ipAddress("127.0.0.1", 1);
  }

  remoteAddress(): SocketAddress {
    return ipAddress("127.0.0.1", 2);
  }

  handOff(): HandOff | undefined {
    return undefined;
  }

  attach(): number {
    return this.#attachResult;
  }

  detach(): void {
    // It is in no loop.
  }

  noteReady(): void {
    // Tests set the flags.
  }
}
