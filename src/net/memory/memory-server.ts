import type { SocketAddress } from "../../platform/socket-address.ts";
import { READABLE, type ServerFd, type StreamFd } from "../fd.ts";
import { HostRegistration, type HostSelector } from "../host-selector.ts";
import type { Line } from "./line.ts";
import type { MemoryHost } from "./memory-host.ts";
import { MemoryStream } from "./memory-stream.ts";

/** A listening socket in the simulated network. */
export class MemoryServer implements ServerFd {
  readonly acceptError = 0;
  readonly #host: MemoryHost;
  readonly #selector: HostSelector;
  readonly #registration: HostRegistration;
  readonly #address: SocketAddress;
  readonly #backlog: number;
  readonly #openResult: number;
  readonly #waiting: MemoryStream[] = [];
  isClosed = false;

  constructor(
    host: MemoryHost,
    selector: HostSelector,
    options: {
      readonly address: SocketAddress;
      readonly backlog: number;
      readonly openResult: number;
    },
  ) {
    this.#host = host;
    this.#selector = selector;
    this.#registration = new HostRegistration(selector);
    this.#address = options.address;
    this.#backlog = options.backlog;
    this.#openResult = options.openResult;
    if (options.openResult === 0) host.servers.set(options.address, this);
    else this.isClosed = true;
  }

  finishOpen(): number {
    return this.#openResult;
  }

  /** A connection has come; false where there is no room for it. */
  arrived(lines: {
    readonly local: SocketAddress;
    readonly remote: SocketAddress;
    readonly incoming: Line;
    readonly out: Line;
  }): boolean {
    if (this.#waiting.length >= this.#backlog) return false;
    const stream = new MemoryStream(this.#selector, { ...lines, openResult: 0 });
    lines.incoming.deliverTo((segment) => stream.deliver(segment));
    lines.out.send({ kind: "accepted" });
    this.#waiting.push(stream);
    this.#registration.report(READABLE);
    return true;
  }

  accept(): StreamFd | undefined {
    const stream = this.#waiting.shift();
    // Level-triggered: the next round reports what still waits.
    if (this.#waiting.length > 0) this.#registration.report(READABLE);
    return stream;
  }

  localAddress(): SocketAddress {
    return this.#address;
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#registration.detach();
    this.#host.servers.delete(this.#address);
    for (const stream of this.#waiting) stream.reset();
    this.#waiting.length = 0;
  }

  attach(slot: number, generation: number): number {
    this.#registration.attach(slot, generation);
    if (this.#waiting.length > 0) this.#registration.report(READABLE);
    return 0;
  }

  detach(): void {
    this.#registration.detach();
  }

  noteReady(): void {
    // `accept` finds out by itself.
  }
}
