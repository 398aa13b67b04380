import type { ServerFd, StreamFd } from "./fd.ts";
import type {
  ChannelDescription,
  ChannelId,
  ReadyHandler,
  SelectorEventLoop,
} from "./selector-event-loop.ts";
import { Timer } from "./timer-queue.ts";

export interface AcceptHandler {
  /** A connection that is now the handler's. */
  onConnection(fd: StreamFd): void;
  /**
   * Connections have to wait: a negative errno (descriptors are used up), or 0 where the cap is reached.
   * Told once, until `onResumed`.
   */
  onPaused?(reason: number): void;
  /** For some time none had to wait. */
  onResumed?(): void;
  /** The loop ends; the server FD is closed. */
  onRemoved?(): void;
  /** What it belongs to, and what its connections have moved, for those who list sockets. */
  describe?(): ListenerRole;
}

/** Whose a listening socket is. */
export interface ListenerRole {
  /** Key of the listener. */
  readonly listener: string;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** So many at a time; then the other FDs of the loop have their turn. */
const MAX_ACCEPTS = 64;
const PAUSE_MS = 50;
/** At the cap each connection that ends lets one in: only after so long without a pause it is over. */
const CALM_MS = 5000;

/**
 * Accepts on one server FD. Where descriptors are used up, or the loop has as many FDs as it may, it
 * pauses and goes on when it can; connections wait in the kernel meanwhile.
 */
export class Acceptor implements ReadyHandler {
  readonly #loop: SelectorEventLoop;
  readonly #fd: ServerFd;
  readonly #handler: AcceptHandler;
  readonly #maxFds: number;
  readonly #resume = new Timer(() => this.#start());
  readonly #calm = new Timer(() => this.#calmed());
  #id: ChannelId | undefined;
  #accepted = 0;
  #isPauseTold = false;

  constructor(
    loop: SelectorEventLoop,
    fd: ServerFd,
    options: { readonly handler: AcceptHandler; readonly maxFds: number },
  ) {
    this.#loop = loop;
    this.#fd = fd;
    this.#handler = options.handler;
    this.#maxFds = options.maxFds;
    this.#start();
  }

  /** How many connections it has accepted. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Accepts no more, and closes the server FD. */
  close(): void {
    this.#loop.disarm(this.#resume);
    this.#loop.disarm(this.#calm);
    this.#fd.close();
    if (this.#id !== undefined) this.#loop.remove(this.#id);
    this.#id = undefined;
  }

  onReady(): void {
    for (let count = 0; count < MAX_ACCEPTS && !this.#fd.isClosed; count += 1) {
      if (this.#loop.size >= this.#maxFds) {
        this.#pause(0);
        return;
      }
      const fd = this.#fd.accept();
      if (fd === undefined) {
        if (this.#fd.acceptError < 0) this.#pause(this.#fd.acceptError);
        return;
      }
      this.#accepted += 1;
      this.#handler.onConnection(fd);
    }
  }

  onRemoved(): void {
    this.#id = undefined;
    this.close();
    this.#handler.onRemoved?.();
  }

  describe(): ChannelDescription {
    return {
      kind: "listener",
      local: this.#fd.localAddress(),
      bytesIn: 0,
      bytesOut: 0,
      accepted: this.#accepted,
      ...this.#handler.describe?.(),
    };
  }

  dismiss(): void {
    this.close();
  }

  #start(): void {
    if (!this.#fd.isClosed && !this.#loop.isClosed) this.#id = this.#loop.add(this.#fd, this);
  }

  #pause(reason: number): void {
    if (this.#id === undefined) return;
    this.#loop.remove(this.#id);
    this.#id = undefined;
    this.#loop.arm(this.#resume, PAUSE_MS);
    this.#loop.arm(this.#calm, CALM_MS);
    if (this.#isPauseTold) return;
    this.#isPauseTold = true;
    this.#handler.onPaused?.(reason);
  }

  #calmed(): void {
    this.#isPauseTold = false;
    this.#handler.onResumed?.();
  }
}
