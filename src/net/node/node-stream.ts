import type { Socket } from "node:net";
import { ERRNO, errnoResult } from "../../platform/errno.ts";
import { type SocketAddress, unixAddress } from "../../platform/socket-address.ts";
import {
  FAILED,
  HANGUP,
  type HandOff,
  READABLE,
  type SpliceEnd,
  type StreamFd,
  WRITABLE,
} from "../fd.ts";
import { HostRegistration, type HostSelector } from "../host-selector.ts";
import type { Region } from "../region.ts";
import { nodeAddress } from "./node-address.ts";

const ALL = READABLE | WRITABLE | HANGUP | FAILED;

/** A socket of Node's as an FD. */
export class NodeStream implements StreamFd {
  readonly splice: SpliceEnd | undefined = undefined;
  readonly #socket: Socket;
  readonly #registration: HostRegistration;
  #chunk: Buffer | undefined;
  #openResult: number;
  #error = 0;
  #hasMore = false;
  #isEnded = false;
  #isBlocked = false;
  #finSent = false;
  isClosed = false;

  /** @param socket made with `allowHalfOpen`; connecting, or connected already */
  constructor(selector: HostSelector, socket: Socket) {
    this.#registration = new HostRegistration(selector);
    this.#socket = socket;
    this.#openResult = socket.connecting ? -ERRNO.EINPROGRESS : 0;
    socket.on("connect", () => this.#connected());
    socket.on("readable", () => this.#arrived(READABLE));
    socket.on("end", () => {
      this.#isEnded = true;
      this.#arrived(READABLE | HANGUP);
    });
    socket.on("drain", () => {
      this.#isBlocked = false;
      this.#report(WRITABLE);
    });
    socket.on("error", (error: NodeJS.ErrnoException) => this.#failed(error));
  }

  get readable(): boolean {
    return !this.isClosed && this.#hasMore;
  }

  get writable(): boolean {
    if (this.isClosed || this.#openResult === -ERRNO.EINPROGRESS) return false;
    return this.#error < 0 || !this.#isBlocked;
  }

  finishOpen(): number {
    return this.#openResult;
  }

  read(region: Region, start: number, byteCount: number): number {
    if (this.isClosed) return -ERRNO.EBADF;
    const chunk = this.#nextChunk();
    if (chunk === undefined) return this.#nothingToRead();
    const taken = Math.min(byteCount, chunk.length);
    region.bytes.set(chunk.subarray(0, taken), start);
    this.#chunk = taken < chunk.length ? chunk.subarray(taken) : undefined;
    return taken;
  }

  write(region: Region, start: number, byteCount: number): number {
    if (this.isClosed) return -ERRNO.EBADF;
    if (this.#error < 0) return this.#error;
    if (this.#finSent) return -ERRNO.EPIPE;
    if (!this.writable) return -ERRNO.EAGAIN;
    const copy = Buffer.from(region.bytes.subarray(start, start + byteCount));
    this.#isBlocked = !this.#socket.write(copy);
    return byteCount;
  }

  takeError(): number {
    return this.#error;
  }

  shutdownWrite(): number {
    if (this.isClosed || this.#finSent) return -ERRNO.ENOTCONN;
    this.#finSent = true;
    this.#socket.end();
    return 0;
  }

  reset(): void {
    if (!this.isClosed) this.#socket.resetAndDestroy();
    this.close();
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#registration.detach();
    this.#chunk = undefined;
    // Reading goes on for nobody, so that the end of the peer is seen and the socket can go.
    if (!this.#socket.destroyed) this.#socket.resume().destroySoon();
  }

  localAddress(): SocketAddress {
    const { localAddress, localPort } = this.#socket;
    return nodeAddress(localAddress, localPort) ?? unixAddress("");
  }

  remoteAddress(): SocketAddress {
    const { remoteAddress, remotePort } = this.#socket;
    return nodeAddress(remoteAddress, remotePort) ?? unixAddress("");
  }

  handOff(): HandOff | undefined {
    return undefined;
  }

  attach(slot: number, generation: number): number {
    this.#registration.attach(slot, generation);
    this.#report((this.readable ? READABLE : 0) | (this.writable ? WRITABLE : 0));
    return 0;
  }

  detach(): void {
    this.#registration.detach();
  }

  noteReady(): void {
    // The flags follow from the socket's events.
  }

  #nextChunk(): Buffer | undefined {
    if (this.#chunk !== undefined) return this.#chunk;
    const read: unknown = this.#socket.read();
    return Buffer.isBuffer(read) ? read : undefined;
  }

  /** Bytes that came before an error are read before it. */
  #nothingToRead(): number {
    this.#hasMore = false;
    if (this.#error < 0) return this.#error;
    return this.#isEnded ? 0 : -ERRNO.EAGAIN;
  }

  #connected(): void {
    this.#openResult = 0;
    this.#report(WRITABLE);
  }

  #arrived(ready: number): void {
    this.#hasMore = true;
    this.#report(ready);
  }

  #failed(error: NodeJS.ErrnoException): void {
    this.#error = errnoResult(error.code ?? "EIO");
    if (this.#openResult === -ERRNO.EINPROGRESS) this.#openResult = this.#error;
    this.#arrived(ALL);
  }

  #report(ready: number): void {
    this.#registration.report(ready);
  }
}
