import { ERRNO } from "../../platform/errno.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
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
import type { Line, Segment } from "./line.ts";

/** So much may be on its way or unread at the other side. */
const WINDOW_BYTES = 65_536;
const ALL = READABLE | WRITABLE | HANGUP | FAILED;

/** One end of a stream in the simulated network. */
export class MemoryStream implements StreamFd {
  readonly splice: SpliceEnd | undefined = undefined;
  readonly #registration: HostRegistration;
  readonly #local: SocketAddress;
  readonly #remote: SocketAddress;
  readonly #out: Line;
  readonly #received: Uint8Array[] = [];
  #unacknowledged = 0;
  #openResult: number;
  #error = 0;
  #finReceived = false;
  /** The end or an error came, and no read has told of it yet. */
  #isEndUnread = false;
  #finSent = false;
  isClosed = false;

  constructor(
    selector: HostSelector,
    end: {
      readonly local: SocketAddress;
      readonly remote: SocketAddress;
      readonly out: Line;
      readonly openResult: number;
    },
  ) {
    this.#registration = new HostRegistration(selector);
    this.#local = end.local;
    this.#remote = end.remote;
    this.#out = end.out;
    this.#openResult = end.openResult;
    end.out.onGivenUp(() => this.#fail(-ERRNO.ETIMEDOUT));
  }

  get readable(): boolean {
    return this.#received.length > 0 || this.#isEndUnread;
  }

  get writable(): boolean {
    if (this.isClosed || this.#openResult === -ERRNO.EINPROGRESS) return false;
    return this.#error < 0 || this.#unacknowledged < WINDOW_BYTES;
  }

  finishOpen(): number {
    return this.#openResult;
  }

  /** What the line from the other end brings. */
  deliver(segment: Segment): void {
    switch (segment.kind) {
      case "accepted":
        this.#openResult = 0;
        this.#registration.report(WRITABLE);
        return;
      case "bytes":
        this.#arrived(segment.bytes);
        return;
      case "credit":
        this.#credited(segment.byteCount);
        return;
      case "fin":
        this.#finReceived = true;
        this.#isEndUnread = true;
        this.#registration.report(READABLE | HANGUP);
        return;
      case "reset":
        this.#fail(
          this.#openResult === -ERRNO.EINPROGRESS ? -ERRNO.ECONNREFUSED : -ERRNO.ECONNRESET,
        );
        return;
      case "syn":
        return;
    }
  }

  read(region: Region, start: number, byteCount: number): number {
    if (this.isClosed) return -ERRNO.EBADF;
    const chunk = this.#received[0];
    if (chunk === undefined) return this.#nothingToRead();
    const taken = Math.min(byteCount, chunk.length);
    region.bytes.set(chunk.subarray(0, taken), start);
    if (taken === chunk.length) this.#received.shift();
    else this.#received[0] = chunk.subarray(taken);
    this.#out.send({ kind: "credit", byteCount: taken });
    return taken;
  }

  write(region: Region, start: number, byteCount: number): number {
    if (this.isClosed) return -ERRNO.EBADF;
    if (this.#error < 0) return this.#error;
    if (this.#openResult !== 0) return -ERRNO.EAGAIN;
    if (this.#finSent) return -ERRNO.EPIPE;
    const taken = Math.min(byteCount, WINDOW_BYTES - this.#unacknowledged);
    if (taken === 0) return -ERRNO.EAGAIN;
    this.#unacknowledged += taken;
    this.#out.send({ kind: "bytes", bytes: region.bytes.slice(start, start + taken) });
    return taken;
  }

  takeError(): number {
    return this.#error;
  }

  shutdownWrite(): number {
    if (this.#finSent || this.isClosed) return -ERRNO.ENOTCONN;
    this.#finSent = true;
    this.#out.send({ kind: "fin" });
    return 0;
  }

  reset(): void {
    if (!this.isClosed) this.#out.send({ kind: "reset" });
    this.#finSent = true;
    this.close();
  }

  close(): void {
    if (this.isClosed) return;
    // As TCP does: bytes that nobody will read are a reset for who sent them.
    if (this.#received.length > 0) this.#out.send({ kind: "reset" });
    else if (!this.#finSent && this.#error === 0) this.#out.send({ kind: "fin" });
    this.isClosed = true;
    this.#isEndUnread = false;
    this.#received.length = 0;
    this.#registration.detach();
  }

  localAddress(): SocketAddress {
    return this.#local;
  }

  remoteAddress(): SocketAddress {
    return this.#remote;
  }

  handOff(): HandOff | undefined {
    return undefined;
  }

  attach(slot: number, generation: number): number {
    this.#registration.attach(slot, generation);
    this.#registration.report((this.readable ? READABLE : 0) | (this.writable ? WRITABLE : 0));
    return 0;
  }

  detach(): void {
    this.#registration.detach();
  }

  noteReady(): void {
    // The flags follow from what arrived.
  }

  #nothingToRead(): number {
    this.#isEndUnread = false;
    if (this.#error < 0) return this.#error;
    return this.#finReceived ? 0 : -ERRNO.EAGAIN;
  }

  #arrived(bytes: Uint8Array): void {
    if (this.isClosed) {
      this.#out.send({ kind: "reset" });
      return;
    }
    const wasDrained = this.#received.length === 0;
    this.#received.push(bytes);
    if (wasDrained) this.#registration.report(READABLE);
  }

  #credited(byteCount: number): void {
    const wasFull = this.#unacknowledged >= WINDOW_BYTES;
    this.#unacknowledged -= byteCount;
    if (wasFull) this.#registration.report(WRITABLE);
  }

  #fail(result: number): void {
    if (this.isClosed || this.#error < 0) return;
    this.#error = result;
    this.#isEndUnread = true;
    this.#received.length = 0;
    if (this.#openResult === -ERRNO.EINPROGRESS) this.#openResult = result;
    this.#registration.report(ALL);
  }
}
