import { createServer, type Server } from "node:net";
import { ERRNO, errnoResult } from "../../platform/errno.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import { HANGUP, READABLE, type ServerFd, type StreamFd, WRITABLE } from "../fd.ts";
import { HostRegistration, type HostSelector } from "../host-selector.ts";
import { nodeAddress, nodePath } from "./node-address.ts";
import { NodeStream } from "./node-stream.ts";

/** A listening socket of Node's. Node accepts by itself: connections wait here. */
export class NodeServer implements ServerFd {
  readonly acceptError = 0;
  readonly #server: Server;
  readonly #registration: HostRegistration;
  readonly #asked: SocketAddress;
  readonly #waiting: NodeStream[] = [];
  #openResult = -ERRNO.EINPROGRESS;
  isClosed = false;

  constructor(selector: HostSelector, on: SocketAddress, backlog: number) {
    this.#asked = on;
    this.#registration = new HostRegistration(selector);
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      this.#waiting.push(new NodeStream(selector, socket));
      this.#registration.report(READABLE);
    });
    this.#server.on("listening", () => this.#decided(0));
    this.#server.on("error", (error: NodeJS.ErrnoException) =>
      this.#decided(errnoResult(error.code ?? "EIO")),
    );
    if (on.family === "unix") this.#server.listen({ path: nodePath(on.path), backlog });
    else this.#server.listen({ host: on.ip, port: on.port, backlog, ipv6Only: on.family === "v6" });
  }

  finishOpen(): number {
    return this.#openResult;
  }

  accept(): StreamFd | undefined {
    const stream = this.#waiting.shift();
    // Level-triggered: the next round reports what still waits.
    if (this.#waiting.length > 0) this.#registration.report(READABLE);
    return stream;
  }

  localAddress(): SocketAddress {
    const bound = this.#server.address();
    if (bound === null || typeof bound === "string") return this.#asked;
    return nodeAddress(bound.address, bound.port) ?? this.#asked;
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#registration.detach();
    this.#server.close();
    for (const stream of this.#waiting) stream.reset();
    this.#waiting.length = 0;
  }

  attach(slot: number, generation: number): number {
    this.#registration.attach(slot, generation);
    if (this.#openResult !== -ERRNO.EINPROGRESS) this.#registration.report(WRITABLE);
    if (this.#waiting.length > 0) this.#registration.report(READABLE);
    return 0;
  }

  detach(): void {
    this.#registration.detach();
  }

  noteReady(): void {
    // `accept` finds out by itself.
  }

  #decided(result: number): void {
    if (this.#openResult === -ERRNO.EINPROGRESS) this.#openResult = result;
    this.#registration.report(result === 0 ? WRITABLE : READABLE | WRITABLE | HANGUP);
  }
}
