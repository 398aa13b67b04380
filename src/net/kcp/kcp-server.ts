import { ERRNO } from "../../platform/errno.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import {
  type DatagramFd,
  HANGUP,
  READABLE,
  type ServerFd,
  type StreamFd,
  WRITABLE,
} from "../fd.ts";
import { HostRegistration } from "../host-selector.ts";
import type { KcpHost } from "./kcp-host.ts";
import type { KcpStream } from "./kcp-stream.ts";
import { ServerSocket, type StreamTaker } from "./server-socket.ts";

/** Accepts the streams of all tunnels that clients open to one UDP address. */
export class KcpServer implements ServerFd, StreamTaker {
  readonly acceptError = 0;
  readonly server: ServerSocket;
  readonly #registration: HostRegistration;
  readonly #backlog: number;
  readonly #waiting: KcpStream[] = [];
  #openResult: number;
  isClosed = false;

  constructor(
    host: KcpHost,
    options: {
      readonly fd: DatagramFd;
      readonly backlog: number;
      /** The socket was closed: it listens no more, and its last tunnel has ended. */
      readonly onEnded: () => void;
    },
  ) {
    this.#registration = new HostRegistration(host.selector);
    this.#backlog = options.backlog;
    this.#openResult = options.fd.finishOpen();
    this.server = new ServerSocket(host, options.fd, this, options.onEnded);
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

  arrived(stream: KcpStream): boolean {
    if (this.isClosed || this.#waiting.length >= this.#backlog) return false;
    this.#waiting.push(stream);
    this.#registration.report(READABLE);
    return true;
  }

  opened(result: number): void {
    if (this.#openResult !== -ERRNO.EINPROGRESS) return;
    this.#openResult = result;
    this.#registration.report(result === 0 ? WRITABLE : READABLE | WRITABLE | HANGUP);
  }

  localAddress(): SocketAddress {
    return this.server.localAddress();
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#registration.detach();
    for (const stream of this.#waiting) stream.reset();
    this.#waiting.length = 0;
    this.server.stopListening();
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
}
