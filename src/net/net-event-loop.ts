import { type AcceptHandler, Acceptor } from "./acceptor.ts";
import { Connection, type ConnectionHandler } from "./connection.ts";
import type { Provider, ServerFd, StreamFd } from "./fd.ts";
import type { LoopCounters } from "./loop-counters.ts";
import { type Region, RegionPool } from "./region.ts";
import { RingBuffer } from "./ring-buffer.ts";
import { SelectorEventLoop } from "./selector-event-loop.ts";

export interface NetEventLoopOptions {
  readonly provider: Provider;
  /** Gets what callbacks throw. It must not throw itself. */
  readonly onError: (error: unknown) => void;
  /** Accepting pauses at so many FDs in the loop; see `connectionCap`. */
  readonly maxFds?: number;
  readonly counters?: LoopCounters;
}

export interface BufferSizes {
  readonly inputBytes: number;
  readonly outputBytes: number;
}

/** The most that one read brings. */
export const SCRATCH_BYTES = 65_536;
const DEFAULT_BUFFER_BYTES = 16_384;
const KEPT_BYTES = 4_194_304;

/**
 * An event loop with listeners, connections and their buffers, and idle time-outs. Where every byte
 * counts, FDs are used directly, with `scratch` for what passes through at once and a `ring` for what does not.
 */
export class NetEventLoop {
  readonly loop: SelectorEventLoop;
  readonly provider: Provider;
  /** For bytes that are read and written in one go: nothing in it outlives a callback. */
  readonly scratch: Region;
  readonly #maxFds: number;
  readonly #pools = new Map<number, RegionPool>();

  constructor(options: NetEventLoopOptions) {
    this.provider = options.provider;
    this.loop = new SelectorEventLoop(options);
    this.scratch = options.provider.allocate(SCRATCH_BYTES);
    this.#maxFds = options.maxFds ?? Number.POSITIVE_INFINITY;
  }

  accept(fd: ServerFd, handler: AcceptHandler): Acceptor {
    return new Acceptor(this.loop, fd, { handler, maxFds: this.#maxFds });
  }

  /** For accepted FDs and for those that `provider.connect` made. */
  connection(
    fd: StreamFd,
    handler: ConnectionHandler,
    options: Partial<BufferSizes> & { readonly idleTimeoutMs?: number } = {},
  ): Connection {
    return new Connection(this.loop, fd, {
      handler,
      input: this.ring(options.inputBytes ?? DEFAULT_BUFFER_BYTES),
      output: this.ring(options.outputBytes ?? DEFAULT_BUFFER_BYTES),
      idleTimeoutMs: options.idleTimeoutMs ?? 0,
    });
  }

  /**
   * A connection joined to another one, back to back: the input of each is the output of the other, so
   * that bytes pass without being copied.
   */
  joined(
    fd: StreamFd,
    handler: ConnectionHandler,
    other: Connection,
    options: { readonly idleTimeoutMs?: number } = {},
  ): Connection {
    return new Connection(this.loop, fd, {
      handler,
      input: other.output,
      output: other.input,
      idleTimeoutMs: options.idleTimeoutMs ?? 0,
    });
  }

  /** A buffer whose memory is lent by this loop while bytes are in it. */
  ring(capacityBytes: number): RingBuffer {
    return new RingBuffer(this.#poolOf(capacityBytes));
  }

  #poolOf(regionBytes: number): RegionPool {
    const known = this.#pools.get(regionBytes);
    if (known !== undefined) return known;
    const pool = new RegionPool({
      regionBytes,
      maxKept: Math.ceil(KEPT_BYTES / regionBytes),
      allocate: (byteCount) => this.provider.allocate(byteCount),
    });
    this.#pools.set(regionBytes, pool);
    return pool;
  }
}
