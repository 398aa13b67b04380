import { ERRNO } from "../platform/errno.ts";
import type { SocketAddress } from "../platform/socket-address.ts";
import { FAILED, READABLE, type StreamFd, WRITABLE } from "./fd.ts";
import { IdleTimer } from "./idle-timer.ts";
import type { BufferReader, BufferWriter, RingBuffer } from "./ring-buffer.ts";
import type {
  ChannelDescription,
  ChannelId,
  ChannelRole,
  ReadyHandler,
  SelectorEventLoop,
} from "./selector-event-loop.ts";

/** Is told what happens to a connection. After `onClosed` or `onRemoved` nothing more is told. */
export interface ConnectionHandler {
  /** It stands; not told for accepted ones, which do from the start. */
  onConnected?(connection: Connection): void;
  /** There are (more) bytes in `connection.input`. */
  onReadable(connection: Connection): void;
  /** `connection.output` was full and has room again. */
  onWritable?(connection: Connection): void;
  /** The peer sends no more (FIN); what it sent before is in `input`. */
  onRemoteClosed(connection: Connection): void;
  /** It failed, with a negative errno; `-ETIMEDOUT` where it was idle for too long. It is closed next. */
  onFailed(connection: Connection, result: number): void;
  onClosed(connection: Connection): void;
  /** The loop ends, and the connection with it. */
  onRemoved(connection: Connection): void;
  /** What it is a part of, for those who list connections. */
  roleOf?(connection: Connection): ChannelRole;
}

export interface ConnectionOptions {
  readonly input: RingBuffer;
  readonly output: RingBuffer;
  readonly handler: ConnectionHandler;
  /** 0: never. */
  readonly idleTimeoutMs: number;
}

type State = "connecting" | "open" | "closed";

/**
 * A stream with a buffer on each side: what arrives goes into `input`, what is put into `output` is
 * sent. Both work by themselves, as far as there is room: a reader that is slow slows the sender.
 * One connection's input may be another's output: then bytes pass without further ado.
 */
export class Connection implements ReadyHandler, BufferReader, BufferWriter {
  readonly fd: StreamFd;
  readonly input: RingBuffer;
  readonly output: RingBuffer;
  readonly #loop: SelectorEventLoop;
  readonly #handler: ConnectionHandler;
  readonly #idle: IdleTimer | undefined;
  readonly #id: ChannelId | undefined;
  #state: State = "connecting";
  #remoteClosed = false;
  #finWanted = false;
  #finSent = false;
  #outputWasFull = false;
  #bytesIn = 0;
  #bytesOut = 0;

  constructor(loop: SelectorEventLoop, fd: StreamFd, options: ConnectionOptions) {
    this.fd = fd;
    this.#loop = loop;
    this.input = options.input;
    this.output = options.output;
    this.#handler = options.handler;
    this.input.setWriter(this);
    this.output.setReader(this);
    const { idleTimeoutMs } = options;
    if (idleTimeoutMs > 0) {
      this.#idle = new IdleTimer(loop, idleTimeoutMs, () => this.#fail(-ERRNO.ETIMEDOUT));
    }
    const opened = fd.finishOpen();
    if (opened === 0) this.#state = "open";
    if (opened === 0 || opened === -ERRNO.EINPROGRESS) this.#id = loop.add(fd, this);
    else loop.nextTick(() => this.#fail(opened));
  }

  get isOpen(): boolean {
    return this.#state === "open";
  }

  get isClosed(): boolean {
    return this.#state === "closed";
  }

  get remoteClosed(): boolean {
    return this.#remoteClosed;
  }

  /** Puts bytes into `output`: how many there was room for. `onWritable` tells when there is more. */
  write(bytes: Uint8Array): number {
    const taken = this.output.store(bytes);
    if (taken < bytes.length) this.#outputWasFull = true;
    return taken;
  }

  /** Sends what is in `output` and then FIN. */
  closeWrite(): void {
    this.#finWanted = true;
    this.#flush();
  }

  /** Closes now; what is in `output` is lost, what the system has taken still goes out. */
  close(): void {
    this.#end(false);
  }

  /** Closes so that the peer sees a reset. */
  reset(): void {
    this.#end(true);
  }

  onReady(ready: number): void {
    if (this.#state === "connecting" && !this.#finishConnect()) return;
    if ((ready & READABLE) !== 0) this.#fill();
    // Before the end of the stream reading tells; after it nothing else does.
    if ((ready & FAILED) !== 0 && this.#remoteClosed) this.#fail(this.fd.takeError());
    if ((ready & WRITABLE) !== 0 && this.#state === "open") this.#flush();
  }

  onBufferReadable(): void {
    this.#flush();
  }

  onBufferWritable(): void {
    // Not at once: whoever takes bytes out is in the midst of it.
    this.#loop.nextTick(() => this.#fill());
  }

  onRemoved(): void {
    if (this.#state === "closed") return;
    this.#release();
    this.#handler.onRemoved(this);
  }

  describe(): ChannelDescription {
    return {
      kind: "connection",
      local: this.fd.localAddress(),
      ...this.#remote(),
      bytesIn: this.#bytesIn,
      bytesOut: this.#bytesOut,
      ...this.#handler.roleOf?.(this),
    };
  }

  dismiss(): void {
    this.close();
  }

  #remote(): { readonly remote?: SocketAddress } {
    return this.#state === "open" ? { remote: this.fd.remoteAddress() } : {};
  }

  #finishConnect(): boolean {
    const result = this.fd.finishOpen();
    if (result === -ERRNO.EINPROGRESS) return false;
    if (result < 0) {
      this.#fail(result);
      return false;
    }
    this.#state = "open";
    this.#idle?.touch();
    this.#handler.onConnected?.(this);
    this.#flush();
    return this.#state === "open";
  }

  #fill(): void {
    while (this.#state === "open" && !this.#remoteClosed && this.fd.readable) {
      if (this.input.free === 0) return;
      const count = this.input.storeFrom(this.fd);
      if (count > 0) {
        this.#bytesIn += count;
        this.#idle?.touch();
        this.#handler.onReadable(this);
      } else if (count === 0) {
        this.#remoteClosed = true;
        this.#handler.onRemoteClosed(this);
      } else if (count === -ERRNO.EAGAIN) {
        return;
      } else {
        this.#fail(count);
      }
    }
  }

  #flush(): void {
    if (this.#state !== "open") return;
    if (this.output.size > 0 && this.fd.writable) {
      const count = this.output.sendTo(this.fd);
      if (count < 0 && count !== -ERRNO.EAGAIN) {
        this.#fail(count);
        return;
      }
      this.#bytesOut += Math.max(0, count);
      this.#idle?.touch();
    }
    if (this.output.size === 0 && this.#finWanted && !this.#finSent) {
      this.#finSent = true;
      this.fd.shutdownWrite();
    }
    if (this.#outputWasFull && this.output.free > 0) {
      this.#outputWasFull = false;
      this.#handler.onWritable?.(this);
    }
  }

  #fail(result: number): void {
    if (this.#state === "closed") return;
    this.#handler.onFailed(this, result);
    this.close();
  }

  #end(withReset: boolean): void {
    if (this.#state === "closed") return;
    if (withReset) this.fd.reset();
    this.#release();
    this.#handler.onClosed(this);
  }

  #release(): void {
    this.#state = "closed";
    this.#idle?.stop();
    this.input.setWriter(undefined);
    this.output.setReader(undefined);
    this.fd.close();
    if (this.#id !== undefined) this.#loop.remove(this.#id);
  }
}
