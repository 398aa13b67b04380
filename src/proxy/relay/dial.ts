import type { StreamFd } from "../../net/fd.ts";
import type { NetEventLoop } from "../../net/net-event-loop.ts";
import type { ChannelRole } from "../../net/selector-event-loop.ts";
import { Timer } from "../../net/timer-queue.ts";
import { ERRNO } from "../../platform/errno.ts";
import type { DialTarget, DialTargets } from "./dial-targets.ts";
import { type EndOwner, RelayEnd } from "./relay-end.ts";

export interface DialHandler {
  /** Key of the listener that it is for. */
  readonly listener: string;
  /** The connection stands; the end is the handler's now. */
  dialed(end: RelayEnd, target: DialTarget, latencyMs: number): void;
  /** There is no target (any more), or too many have failed; the negative errno of the last one. */
  dialFailed(result: number): void;
}

/** A connection to a server that is being made. */
export interface Dialing {
  /** The handler may be told before it returns. */
  start(): void;
  /** Gives up; the handler is not told. */
  cancel(): void;
}

export interface DialOptions {
  /** For each target. */
  readonly connectTimeoutMs: number;
  readonly bufferBytes: number;
}

/** So many targets are tried. */
export const MAX_ATTEMPTS = 3;

/** Descriptors or memory of this process are used up: no fault of the target. */
export const OWN_FAULTS: ReadonlySet<number> = new Set([
  -ERRNO.EMFILE,
  -ERRNO.ENFILE,
  -ERRNO.ENOBUFS,
  -ERRNO.ENOMEM,
  -ERRNO.EADDRNOTAVAIL,
]);

/** Connects to the first target that lets it. */
export class Dial implements EndOwner, Dialing {
  readonly #net: NetEventLoop;
  readonly #targets: DialTargets;
  readonly #options: DialOptions;
  readonly #handler: DialHandler;
  readonly #timer = new Timer(() => this.#failed(-ERRNO.ETIMEDOUT));
  #end: RelayEnd | undefined;
  #target: DialTarget | undefined;
  #attempts = 0;
  #beganMs = 0;
  /** Undefined while none was tried. */
  #lastResult: number | undefined;

  constructor(
    net: NetEventLoop,
    targets: DialTargets,
    options: DialOptions & { readonly handler: DialHandler },
  ) {
    this.#net = net;
    this.#targets = targets;
    this.#options = options;
    this.#handler = options.handler;
  }

  start(): void {
    const target = this.#attempts < MAX_ATTEMPTS ? this.#targets.next() : undefined;
    if (target === undefined) {
      // Read now: why there is none may show only when one is asked for.
      this.#handler.dialFailed(this.#lastResult ?? this.#targets.noneResult);
      return;
    }
    this.#attempts += 1;
    this.#target = target;
    this.#beganMs = this.#net.loop.nowMs;
    target.opened();
    const fd = this.#net.provider.connect(target.address);
    this.#connect(target.secured?.(fd) ?? fd);
  }

  cancel(): void {
    this.#net.loop.disarm(this.#timer);
    this.#end?.leave(this.#net.loop, false);
    this.#end = undefined;
    this.#target?.closed();
    this.#target = undefined;
  }

  endReady(): void {
    const result = this.#end?.fd.finishOpen() ?? 0;
    if (result < 0) {
      if (result !== -ERRNO.EINPROGRESS) this.#failed(result);
      return;
    }
    const { loop } = this.#net;
    const [end, target] = [this.#end, this.#target];
    if (end === undefined || target === undefined) return;
    loop.disarm(this.#timer);
    this.#end = undefined;
    this.#target = undefined;
    target.connected();
    this.#handler.dialed(end, target, loop.nowMs - this.#beganMs);
  }

  endDismissed(): void {
    this.#failed(-ERRNO.ECONNABORTED);
  }

  roleOf(): ChannelRole {
    return { listener: this.#handler.listener, server: this.#target?.key ?? "" };
  }

  #connect(fd: StreamFd): void {
    const opened = fd.finishOpen();
    if (opened < 0 && opened !== -ERRNO.EINPROGRESS) {
      fd.close();
      this.#failed(opened);
      return;
    }
    const end = new RelayEnd(fd, this.#options.bufferBytes, this);
    this.#end = end;
    end.enter(this.#net.loop);
    // Unix sockets and some others are connected at once: the loop tells that they are writable.
    this.#net.loop.arm(this.#timer, this.#options.connectTimeoutMs);
  }

  #failed(result: number): void {
    const target = this.#target;
    this.cancel();
    this.#lastResult = result;
    if (OWN_FAULTS.has(result)) {
      this.#handler.dialFailed(result);
      return;
    }
    target?.failed(result);
    if (this.#net.loop.isClosed) this.#handler.dialFailed(result);
    else this.start();
  }
}
