import type { SocketAddress } from "../../platform/socket-address.ts";
import { unixAddress } from "../../platform/socket-address.ts";
import type { Fd } from "../fd.ts";
import type { PosixHost } from "./posix-host.ts";

/**
 * A descriptor that is watched and nothing more: an eventfd by which other threads wake a loop, or a
 * device. Who opened it closes it, when no thread can use it any more.
 */
export class WatchedFd implements Fd {
  readonly #host: PosixHost;
  readonly #descriptor: number;
  readonly #events: number;
  isClosed = false;

  constructor(host: PosixHost, descriptor: number, events: number) {
    this.#host = host;
    this.#descriptor = descriptor;
    this.#events = events;
  }

  finishOpen(): number {
    return 0;
  }

  localAddress(): SocketAddress {
    return unixAddress("");
  }

  close(): void {
    if (this.isClosed) return;
    this.detach();
    this.isClosed = true;
  }

  attach(slot: number, generation: number): number {
    return this.#host.epoll.add(this.#descriptor, this.#events, slot, generation);
  }

  detach(): void {
    this.#host.epoll.remove(this.#descriptor);
  }

  noteReady(): void {
    // Readiness is all there is to know.
  }
}
