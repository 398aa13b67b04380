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
import { LEAST_WINDOW_BYTES, MAX_WINDOW_BYTES, OPEN_WINDOW_BYTES } from "./tunnel-frames.ts";
import type { WindowPool } from "./window-pool.ts";

const ALL = READABLE | WRITABLE | HANGUP | FAILED;
/** The writer is told again when so much of a window is free. */
const SHARE_TO_TELL = 4;

/** The tunnel, as one of its streams needs it. */
export interface StreamCarrier {
  readonly selector: HostSelector;
  /** What its streams may hold beyond their first windows. */
  readonly pool: WindowPool;
  localAddress(): SocketAddress;
  remoteAddress(): SocketAddress;
  nowMs(): number;
  /** It has something to send. */
  wantsToSend(stream: KcpStream): void;
  /** The other end may send so much more. */
  grant(stream: KcpStream, byteCount: number): void;
  sendReset(stream: KcpStream): void;
  /** Nothing of it is needed any more. */
  forget(stream: KcpStream): void;
}

/** What may be sent at first, and what may come. */
export interface FirstWindows {
  readonly sendBytes: number;
  readonly receiveBytes: number;
}

/** One stream of a tunnel, with TCP's face. */
export class KcpStream implements StreamFd {
  readonly splice: SpliceEnd | undefined = undefined;
  readonly id: number;
  readonly #carrier: StreamCarrier;
  readonly #registration: HostRegistration;
  readonly #received: Uint8Array[] = [];
  #unsent: Uint8Array[] = [];
  #openResult: number;
  #error = 0;
  /** How much the other end takes still, and how much we do. */
  #credit: number;
  #granted: number;
  #windowBytes: number;
  /** Of the window, what is of the pool. */
  #pooledBytes = 0;
  #consumed = 0;
  /** Of what came. */
  #unreadBytes = 0;
  #isFull = false;
  #finWanted = false;
  #finSent = false;
  #finReceived = false;
  /** The end came in peace, and no read has told of it yet: it comes before any error. */
  #isPeaceUntold = false;
  /** The end or an error came, and no read has told of it yet. */
  #isEndUnread = false;
  isClosed = false;
  closedAtMs = 0;

  constructor(carrier: StreamCarrier, id: number, openResult: number, first: FirstWindows) {
    this.#credit = first.sendBytes;
    this.#granted = first.receiveBytes;
    this.#windowBytes = first.receiveBytes;
    this.#carrier = carrier;
    this.id = id;
    this.#openResult = openResult;
    this.#registration = new HostRegistration(carrier.selector);
  }

  get readable(): boolean {
    return !this.isClosed && (this.#received.length > 0 || this.#isEndUnread);
  }

  get writable(): boolean {
    if (this.isClosed || this.#openResult === -ERRNO.EINPROGRESS) return false;
    return this.#error < 0 || !this.#isFull;
  }

  finishOpen(): number {
    return this.#openResult;
  }

  read(region: Region, start: number, byteCount: number): number {
    if (this.isClosed) return -ERRNO.EBADF;
    let total = 0;
    for (let chunk = this.#received[0]; chunk !== undefined; chunk = this.#received[0]) {
      const taken = Math.min(byteCount - total, chunk.length);
      region.bytes.set(taken === chunk.length ? chunk : chunk.subarray(0, taken), start + total);
      total += taken;
      if (taken < chunk.length) {
        this.#received[0] = chunk.subarray(taken);
        break;
      }
      this.#received.shift();
    }
    if (total === 0) return byteCount === 0 ? 0 : this.#nothingToRead();
    this.#unreadBytes -= total;
    this.#consume(total);
    return total;
  }

  write(region: Region, start: number, byteCount: number): number {
    if (this.isClosed) return -ERRNO.EBADF;
    if (this.#error < 0) return this.#error;
    if (this.#finWanted) return -ERRNO.EPIPE;
    if (this.#openResult !== 0) return -ERRNO.EAGAIN;
    const taken = Math.min(byteCount, this.#credit);
    if (taken < byteCount || this.#credit === 0) this.#isFull = true;
    if (taken === 0) return -ERRNO.EAGAIN;
    this.#credit -= taken;
    if (this.#credit === 0) this.#isFull = true;
    this.#unsent.push(region.bytes.slice(start, start + taken));
    this.#carrier.wantsToSend(this);
    return taken;
  }

  takeError(): number {
    return this.#error;
  }

  shutdownWrite(): number {
    if (this.#finWanted || this.isClosed || this.#error < 0) return -ERRNO.ENOTCONN;
    this.#finWanted = true;
    this.#carrier.wantsToSend(this);
    return 0;
  }

  reset(): void {
    if (!this.isClosed) this.#abandon();
    this.close();
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.closedAtMs = this.#carrier.nowMs();
    this.#registration.detach();
    // As TCP does: bytes that nobody will read are a reset for who sent them.
    if (this.#received.length > 0 || this.#openResult !== 0) this.#abandon();
    else if (!this.#finWanted && this.#error === 0) {
      this.#finWanted = true;
      this.#carrier.wantsToSend(this);
    }
    this.#received.length = 0;
    this.#isEndUnread = false;
    this.#forgetIfDone();
  }

  localAddress(): SocketAddress {
    return this.#carrier.localAddress();
  }

  remoteAddress(): SocketAddress {
    return this.#carrier.remoteAddress();
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
    // The flags follow from what came.
  }

  /** Lets the other end send more from the start, so that a new stream does not wait for a word from us. */
  widen(): void {
    const byteGrant = this.#takeOfPool(OPEN_WINDOW_BYTES - this.#windowBytes);
    if (byteGrant === 0) return;
    this.#granted += byteGrant;
    this.#carrier.grant(this, byteGrant);
  }

  /** The other end has said what its first windows are; nothing was sent or came before that. */
  settled(sendBytes: number, receiveBytes: number): void {
    this.#credit += sendBytes;
    this.#granted += receiveBytes;
    this.#windowBytes += receiveBytes;
  }

  /** It is forgotten: what it had of the pool is for others. */
  leavePool(): void {
    this.#carrier.pool.giveBack(this.#pooledBytes);
    this.#pooledBytes = 0;
  }

  /** The other end has accepted it. */
  opened(): void {
    if (this.#openResult !== -ERRNO.EINPROGRESS) return;
    this.#openResult = 0;
    this.#registration.report(WRITABLE);
  }

  /** Bytes came. False where the other end had no right to send them. */
  arrived(bytes: Uint8Array): boolean {
    this.#granted -= bytes.length;
    if (this.#granted < 0 || this.#finReceived) return false;
    if (this.isClosed) {
      this.#abandon();
      this.#forgetIfDone();
      return true;
    }
    if (this.#error < 0) return true;
    const wasDrained = this.#received.length === 0;
    this.#received.push(bytes);
    this.#unreadBytes += bytes.length;
    if (wasDrained) this.#registration.report(READABLE);
    return true;
  }

  ended(): void {
    this.#finReceived = true;
    this.#isPeaceUntold = true;
    this.#isEndUnread = true;
    this.#registration.report(READABLE | HANGUP);
    this.#forgetIfDone();
  }

  /** The other end has read, and takes more. */
  credited(byteCount: number): void {
    this.#credit += byteCount;
    if (!this.#isFull || this.#credit < LEAST_WINDOW_BYTES / SHARE_TO_TELL) return;
    this.#isFull = false;
    this.#registration.report(WRITABLE);
  }

  /** Reset by the other end, or lost with the tunnel. What came before can still be read. */
  failed(result: number): void {
    this.#unsent = [];
    this.#finSent = true;
    this.#finReceived = true;
    if (!this.isClosed && this.#error === 0) {
      this.#error =
        this.#openResult === -ERRNO.EINPROGRESS && result === -ERRNO.ECONNRESET
          ? -ERRNO.ECONNREFUSED
          : result;
      this.#isEndUnread = true;
      if (this.#openResult === -ERRNO.EINPROGRESS) this.#openResult = this.#error;
      this.#registration.report(ALL);
    }
    this.#carrier.forget(this);
  }

  /** The next bytes to send, at most so many; undefined where there are none. */
  takeUnsent(maxBytes: number): Uint8Array | undefined {
    const first = this.#unsent[0];
    if (first === undefined) return undefined;
    if (first.length <= maxBytes) {
      this.#unsent.shift();
      return first;
    }
    this.#unsent[0] = first.subarray(maxBytes);
    return first.subarray(0, maxBytes);
  }

  get hasUnsent(): boolean {
    return this.#unsent.length > 0;
  }

  /** Whether the end is to be sent now; true once. */
  takeFin(): boolean {
    if (!this.#finWanted || this.#finSent || this.#unsent.length > 0) return false;
    this.#finSent = true;
    return true;
  }

  /** After the end was sent. */
  finLeft(): void {
    this.#forgetIfDone();
  }

  #abandon(): void {
    this.#unsent = [];
    this.#finWanted = true;
    this.#finSent = true;
    this.#finReceived = true;
    if (this.#error === 0) this.#carrier.sendReset(this);
  }

  #forgetIfDone(): void {
    if (this.isClosed && this.#finSent && this.#finReceived) this.#carrier.forget(this);
  }

  #nothingToRead(): number {
    this.#isEndUnread = false;
    if (this.#error < 0 && !this.#isPeaceUntold) return this.#error;
    this.#isPeaceUntold = false;
    return this.#finReceived ? 0 : -ERRNO.EAGAIN;
  }

  /**
   * A reader that keeps up gets a larger window, so that the path is the limit. While a loss is made good everything
   * behind it waits, and then comes at once: that much waits tells little, that it does not become less does.
   */
  #consume(byteCount: number): void {
    this.#consumed += byteCount;
    if (this.#finReceived || this.#consumed < this.#windowBytes / SHARE_TO_TELL) return;
    const keepsUp = this.#unreadBytes < this.#windowBytes / SHARE_TO_TELL;
    const moreBytes = keepsUp && this.#windowBytes < MAX_WINDOW_BYTES ? this.#windowBytes : 0;
    const byteGrant = this.#carrier.pool.isScarce
      ? this.#consumed - this.#giveToPool(this.#consumed / 2)
      : this.#consumed + this.#takeOfPool(moreBytes);
    this.#consumed = 0;
    this.#granted += byteGrant;
    this.#carrier.grant(this, byteGrant);
  }

  #takeOfPool(wantedBytes: number): number {
    const byteCount = this.#carrier.pool.take(wantedBytes);
    this.#pooledBytes += byteCount;
    this.#windowBytes += byteCount;
    return byteCount;
  }

  /** Where others have nothing, who has much gets less of it again. */
  #giveToPool(mostBytes: number): number {
    const byteCount = Math.min(Math.floor(mostBytes), this.#pooledBytes);
    this.#carrier.pool.giveBack(byteCount);
    this.#pooledBytes -= byteCount;
    this.#windowBytes -= byteCount;
    return byteCount;
  }
}
