import type { SocketAddress } from "../../platform/socket-address.ts";
import { unixAddress } from "../../platform/socket-address.ts";
import type { Fd } from "../fd.ts";
import type { PosixHost } from "./posix-host.ts";
import { WAKE_EVENTS } from "./posix-selector.ts";

/**
 * The eventfd by which other threads wake a loop; readable says that they did. The thread that made it
 * closes it, when no thread can signal it any more.
 */
export class WakeFd implements Fd {
  readonly #host: PosixHost;
  readonly #descriptor: number;
  isClosed = false;

  constructor(host: PosixHost, descriptor: number) {
    this.#host = host;
    this.#descriptor = descriptor;
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
    return this.#host.epoll.add(this.#descriptor, WAKE_EVENTS, slot, generation);
  }

  detach(): void {
    this.#host.epoll.remove(this.#descriptor);
  }

  noteReady(): void {
    // Readiness is all there is to know.
  }
}
