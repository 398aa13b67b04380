import { randomInt } from "node:crypto";
import type { SocketAddress } from "../../platform/socket-address.ts";
import type { DatagramFd, DatagramPeer } from "../fd.ts";
import { Timer } from "../timer-queue.ts";
import { VERSION } from "./client-socket.ts";
import type { KcpHost } from "./kcp-host.ts";
import { type DatagramTaker, KcpSocket } from "./kcp-socket.ts";
import type { KcpStream } from "./kcp-stream.ts";
import { KcpTunnel, type TunnelSocket } from "./kcp-tunnel.ts";
import { readInitiation, respond } from "./noise-nn.ts";
import { renderReset } from "./reset-token.ts";
import {
  counterOf,
  HANDSHAKE_AT,
  RESET_BYTES,
  SEALED_AT,
  shortHeader,
  TAG_BYTES,
  TYPE,
} from "./wire-form.ts";

/** Who takes the streams of a server's tunnels. */
export interface StreamTaker {
  /** 0, or the negative errno that the socket could not be opened with. */
  opened(result: number): void;
  /** False where there is no room, or nobody listens any more. */
  arrived(stream: KcpStream): boolean;
}

/** A tunnel of a client, and where that is. */
interface Client {
  readonly tunnel: KcpTunnel;
  peer: DatagramPeer;
  /** Of its first message: one that comes again is answered the same. */
  readonly initiation: string;
  readonly response: Buffer;
  readonly createdAtMs: number;
  /** Something came that was sealed with the keys of the session: it is no replay. */
  isConfirmed: boolean;
  newestCounter: number;
}

/** Handshakes that nobody finished yet; beyond, the oldest goes. */
const MAX_UNCONFIRMED = 1024;
const UNCONFIRMED_MS = 5_000;
const MAX_TUNNELS = 16_384;
const MAX_INDEX = 2 ** 32 - 1;
/** Resets a second: who sends rubbish gets little for it. */
const RESETS_PER_SECOND = 100;

/** The server's end of many tunnels, on one socket. */
export class ServerSocket implements DatagramTaker, TunnelSocket {
  readonly socket: KcpSocket;
  readonly #host: KcpHost;
  readonly #streams: StreamTaker;
  readonly #onEnded: () => void;
  readonly #clients = new Map<number, Client>();
  readonly #byInitiation = new Map<string, Client>();
  /** The oldest first. */
  readonly #unconfirmed = new Set<Client>();
  readonly #timer: Timer;
  #resetsLeft = RESETS_PER_SECOND;
  #resetsSinceMs = 0;
  #isListening = true;

  constructor(host: KcpHost, fd: DatagramFd, streams: StreamTaker, onEnded: () => void) {
    this.#host = host;
    this.#streams = streams;
    this.#onEnded = onEnded;
    this.socket = new KcpSocket(host, fd, this);
    this.#timer = new Timer(() => this.#dropUnconfirmed());
  }

  get tunnelCount(): number {
    return this.#clients.size;
  }

  get busyCount(): number {
    let count = 0;
    for (const { tunnel, isConfirmed } of this.#clients.values()) {
      if (isConfirmed && tunnel.isBusy) count += 1;
    }
    return count;
  }

  /** Nobody accepts any more; tunnels go on as long as they have something to do. */
  stopListening(): void {
    this.#isListening = false;
    for (const { tunnel, isConfirmed } of [...this.#clients.values()]) {
      if (isConfirmed) tunnel.leave("the server was closed");
      else tunnel.lost(0);
    }
    this.#closeIfDone();
  }

  /** All tunnels end now. */
  close(): void {
    this.#isListening = false;
    for (const { tunnel } of [...this.#clients.values()]) tunnel.end("the server ends", 0);
    this.#closeIfDone();
  }

  opened(result: number): void {
    this.#streams.opened(result);
  }

  refused(): void {
    // A client that is gone: silence will tell.
  }

  sealed(byteCount: number, index: number): void {
    const client = this.#clients.get(index);
    if (client === undefined) {
      this.#sayUnknown(byteCount, index);
      return;
    }
    const counter = counterOf(this.#host.incomingView);
    // Its sender moves with it: behind a router that forgot, the client has another port.
    const key = this.socket.senderKey();
    const peer = key === client.peer.key ? client.peer : this.socket.sender();
    const before = client.tunnel.remote;
    if (peer !== client.peer) client.tunnel.remote = peer.address;
    if (!client.tunnel.receive(counter, SEALED_AT, byteCount - SEALED_AT - TAG_BYTES)) {
      client.tunnel.remote = before;
      return;
    }
    if (counter < client.newestCounter) client.tunnel.remote = before;
    else {
      client.newestCounter = counter;
      client.peer = peer;
    }
    if (!client.isConfirmed && !client.tunnel.isEnded) {
      client.isConfirmed = true;
      this.#unconfirmed.delete(client);
      this.#host.counters.handshakes += 1;
      this.#host.counters.tunnels += 1;
    }
  }

  handshake(type: number, byteCount: number, index: number): void {
    const { counters, incoming, options } = this.#host;
    if (type !== TYPE.INITIATION) {
      counters.strangeDatagrams += 1;
      return;
    }
    const datagram = incoming.bytes.subarray(0, byteCount);
    const initiation = Buffer.from(datagram).toString("latin1");
    const known = this.#byInitiation.get(initiation);
    if (known !== undefined) {
      if (!known.isConfirmed) this.socket.send(known.response, this.socket.sender());
      return;
    }
    const received = readInitiation(
      options.key,
      datagram.subarray(0, HANDSHAKE_AT),
      datagram.subarray(HANDSHAKE_AT),
    );
    if (received === undefined || !received.payload.equals(VERSION)) {
      counters.refusedHandshakes += 1;
      return;
    }
    if (!this.#isListening || this.#clients.size >= MAX_TUNNELS) return;
    const localIndex = this.#freeIndex();
    const payload = Buffer.alloc(4);
    payload.writeUInt32LE(localIndex);
    const answer = respond(received, payload);
    if (answer === undefined) return;
    const peer = this.socket.sender();
    const tunnel = new KcpTunnel(this.#host, this, {
      isClient: false,
      localIndex,
      remote: peer.address,
    });
    const response = Buffer.concat([shortHeader(TYPE.RESPONSE, index), answer.message]);
    const createdAtMs = this.#host.nowMs();
    const client: Client = {
      tunnel,
      peer,
      initiation,
      response,
      createdAtMs,
      isConfirmed: false,
      newestCounter: -1,
    };
    this.#clients.set(localIndex, client);
    this.#byInitiation.set(initiation, client);
    this.#unconfirmed.add(client);
    tunnel.open(answer.keys, index);
    this.socket.send(response, peer);
    this.#dropUnconfirmed();
  }

  localAddress(): SocketAddress {
    return this.socket.localAddress();
  }

  /** Before the client has shown that it is one, nothing is sent but the answer to its handshake. */
  isReady({ localIndex }: KcpTunnel): boolean {
    return this.#clients.get(localIndex)?.isConfirmed ?? false;
  }

  send({ localIndex }: KcpTunnel, datagram: Uint8Array): void {
    const client = this.#clients.get(localIndex);
    if (client !== undefined) this.socket.send(datagram, client.peer);
  }

  accept(stream: KcpStream): boolean {
    return this.#isListening && this.#streams.arrived(stream);
  }

  ended({ localIndex }: KcpTunnel): void {
    const client = this.#clients.get(localIndex);
    if (client === undefined) return;
    this.#clients.delete(localIndex);
    this.#byInitiation.delete(client.initiation);
    this.#unconfirmed.delete(client);
    if (client.isConfirmed) this.#host.counters.tunnels -= 1;
    this.#closeIfDone();
  }

  #closeIfDone(): void {
    if (this.#isListening || this.#clients.size > 0) return;
    this.#host.disarm(this.#timer);
    if (this.socket.fd.isClosed) return;
    this.socket.fd.close();
    this.#onEnded();
  }

  #freeIndex(): number {
    for (;;) {
      const index = randomInt(1, MAX_INDEX);
      if (!this.#clients.has(index)) return index;
    }
  }

  #dropUnconfirmed(): void {
    const nowMs = this.#host.nowMs();
    for (const { tunnel, createdAtMs } of this.#unconfirmed) {
      const isLate = nowMs >= createdAtMs + UNCONFIRMED_MS;
      if (!isLate && this.#unconfirmed.size <= MAX_UNCONFIRMED) {
        this.#host.arm(this.#timer, createdAtMs + UNCONFIRMED_MS);
        return;
      }
      tunnel.lost(0);
    }
  }

  #sayUnknown(byteCount: number, index: number): void {
    this.#host.counters.strangeDatagrams += 1;
    const nowMs = this.#host.nowMs();
    if (nowMs - this.#resetsSinceMs >= 1000) {
      this.#resetsSinceMs = nowMs;
      this.#resetsLeft = RESETS_PER_SECOND;
    }
    // Never more than what was got.
    if (this.#resetsLeft === 0 || byteCount <= RESET_BYTES) return;
    this.#resetsLeft -= 1;
    this.socket.send(renderReset(this.#host.options.key, index), this.socket.sender());
  }
}
