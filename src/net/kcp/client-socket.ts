import { ERRNO } from "../../platform/errno.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import type { DatagramFd } from "../fd.ts";
import { Timer } from "../timer-queue.ts";
import type { KcpHost } from "./kcp-host.ts";
import { type DatagramTaker, KcpSocket } from "./kcp-socket.ts";
import { KcpTunnel, type TunnelSocket } from "./kcp-tunnel.ts";
import { type Initiated, initiate, readResponse } from "./noise-nn.ts";
import { isReset } from "./reset-token.ts";
import { counterOf, HANDSHAKE_AT, SEALED_AT, shortHeader, TAG_BYTES, TYPE } from "./wire-form.ts";

/** The first word of a client: the version of all that follows. */
export const VERSION: Uint8Array = Uint8Array.of(1, 0, 0, 0);
const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 1000;

/** The client's end of one tunnel: a socket of its own, and the handshake. */
export class ClientSocket implements DatagramTaker, TunnelSocket {
  readonly socket: KcpSocket;
  readonly tunnel: KcpTunnel;
  readonly #host: KcpHost;
  readonly #onEnded: () => void;
  readonly #timer: Timer;
  readonly #startedAtMs: number;
  #initiation: { readonly datagram: Buffer; readonly state: Initiated } | undefined;
  #retryMs = FIRST_RETRY_MS;

  constructor(
    host: KcpHost,
    options: {
      readonly fd: DatagramFd;
      readonly remote: SocketAddress;
      readonly localIndex: number;
      readonly onEnded: () => void;
    },
  ) {
    const { fd, remote, localIndex } = options;
    this.#host = host;
    this.#onEnded = options.onEnded;
    this.socket = new KcpSocket(host, fd, this);
    this.tunnel = new KcpTunnel(host, this, { isClient: true, localIndex, remote });
    this.#timer = new Timer(() => this.#retry());
    this.#startedAtMs = host.nowMs();
    const header = shortHeader(TYPE.INITIATION, localIndex);
    const { message, state } = initiate(host.options.key, header, VERSION);
    this.#initiation = { datagram: Buffer.concat([header, message]), state };
    if (fd.finishOpen() === 0) this.#retry();
    else host.arm(this.#timer, this.#startedAtMs + FIRST_RETRY_MS);
  }

  opened(result: number): void {
    if (result < 0) this.tunnel.lost(result);
    else this.#retry();
  }

  /** Where a tunnel stands, a word that anybody can forge does not end it: silence does. */
  refused(): void {
    if (!this.tunnel.isOpen) this.tunnel.lost(-ERRNO.ECONNREFUSED);
  }

  sealed(byteCount: number, index: number): void {
    if (index !== this.tunnel.localIndex || !this.tunnel.isOpen) {
      this.#host.counters.strangeDatagrams += 1;
      return;
    }
    const counter = counterOf(this.#host.incomingView);
    this.tunnel.receive(counter, SEALED_AT, byteCount - SEALED_AT - TAG_BYTES);
  }

  handshake(type: number, byteCount: number, index: number): void {
    const { counters, incoming, options } = this.#host;
    const datagram = incoming.bytes.subarray(0, byteCount);
    if (type === TYPE.RESPONSE && index === this.tunnel.localIndex) {
      this.#respond(datagram);
      return;
    }
    const { tunnel } = this;
    if (
      type === TYPE.RESET &&
      tunnel.isOpen &&
      isReset(options.key, tunnel.remoteIndex, datagram)
    ) {
      tunnel.doubt();
      return;
    }
    counters.strangeDatagrams += 1;
  }

  localAddress(): SocketAddress {
    return this.socket.localAddress();
  }

  isReady(): boolean {
    return true;
  }

  send(_tunnel: KcpTunnel, datagram: Uint8Array): void {
    this.socket.send(datagram);
  }

  accept(): boolean {
    return false;
  }

  ended(): void {
    this.#host.disarm(this.#timer);
    if (this.#initiation === undefined) this.#host.counters.tunnels -= 1;
    this.socket.fd.close();
    this.#onEnded();
  }

  #respond(datagram: Uint8Array): void {
    const { counters } = this.#host;
    // One that comes twice was asked for twice.
    if (this.#initiation === undefined) return;
    const answer = readResponse(this.#initiation.state, datagram.subarray(HANDSHAKE_AT));
    if (answer === undefined || answer.payload.length < 4) {
      counters.refusedHandshakes += 1;
      return;
    }
    this.#initiation = undefined;
    this.#host.disarm(this.#timer);
    counters.handshakes += 1;
    counters.tunnels += 1;
    this.tunnel.open(answer.keys, answer.payload.readUInt32LE(0));
  }

  #retry(): void {
    if (this.#initiation === undefined) return;
    const nowMs = this.#host.nowMs();
    if (nowMs - this.#startedAtMs >= this.#host.options.handshakeTimeoutMs) {
      this.tunnel.lost(-ERRNO.ETIMEDOUT);
      return;
    }
    if (this.socket.fd.finishOpen() === 0) this.socket.send(this.#initiation.datagram);
    this.#host.arm(this.#timer, nowMs + this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
  }
}
