import { ERRNO } from "../../platform/errno.ts";
import { MSG_MORE, MSG_NOSIGNAL, SHUT_WR } from "../../platform/linux/abi.ts";
import { originalDestinationOf } from "../../platform/linux/original-destination.ts";
import { ipv4Text } from "../../platform/linux/sockaddr.ts";
import { recv, send, shutdown } from "../../platform/linux/socket-calls.ts";
import { localAddressOf, remoteAddressOf } from "../../platform/linux/socket-names.ts";
import {
  setLingerReset,
  setNoDelay,
  takeSocketError,
} from "../../platform/linux/socket-options.ts";
import { ipAddress, type SocketAddress } from "../../platform/socket-address.ts";
import {
  ENDING,
  HANGUP,
  type HandOff,
  READABLE,
  type SpliceEnd,
  type StreamFd,
  WRITABLE,
} from "../fd.ts";
import type { Region } from "../region.ts";
import type { PosixHost } from "./posix-host.ts";
import { STREAM_EVENTS } from "./posix-selector.ts";

const NOBODY: SocketAddress = ipAddress("::", 0);

/** What one segment holds on any path that is worth it: the least that IPv6 passes, without its headers. */
const SEGMENT_BYTES = 1220;

/** What a stream socket is beside its descriptor. */
export interface PosixStreamOptions {
  /** As `finishOpen` gives it; where it failed, there is no descriptor (-1). 0 where it is missing. */
  readonly openResult?: number;
  /** Of TCP, where that is known: what a read says of the end is sure. */
  readonly isTcp?: boolean;
  /**
   * TCP_NODELAY is not set yet. The first segment leaves at once without it, and many connections have
   * no second one.
   */
  readonly lacksNoDelay?: boolean;
}

/** A TCP or unix socket, non-blocking. */
export class PosixStream implements StreamFd, SpliceEnd {
  /** -1 once it is closed: whoever still uses it gets EBADF, never what took its number. */
  descriptor: number;
  readable = false;
  writable: boolean;
  hasReadAll = false;
  readonly #host: PosixHost;
  #openResult: number;
  readonly #isTcp: boolean;
  #hungUp = false;
  #isEnding = false;
  #hasWritten = false;
  #lacksNoDelay: boolean;
  #peerV4 = -1;
  #peerPort = 0;

  constructor(host: PosixHost, descriptor: number, options: PosixStreamOptions) {
    const { openResult = 0, isTcp = false, lacksNoDelay = false } = options;
    this.#host = host;
    this.descriptor = descriptor;
    this.#openResult = openResult;
    this.#isTcp = isTcp;
    this.#lacksNoDelay = lacksNoDelay;
    this.writable = openResult === 0;
    if (descriptor >= 0) host.ledger.note(descriptor);
  }

  get splice(): SpliceEnd {
    return this;
  }

  get isClosed(): boolean {
    return this.descriptor < 0;
  }

  finishOpen(): number {
    if (this.#openResult !== -ERRNO.EINPROGRESS) return this.#openResult;
    if (!this.writable) return -ERRNO.EINPROGRESS;
    // Without a hang-up the connection stands: no system call for the usual case.
    this.#openResult = this.#hungUp ? takeSocketError(this.descriptor) : 0;
    return this.#openResult;
  }

  read(region: Region, start: number, byteCount: number): number {
    const count = recv(this.descriptor, region.address + start, byteCount);
    // epoll(7): a short read has drained a stream, unless its end is there to be read too.
    if (count !== byteCount) {
      if (count <= 0 || !this.#hungUp) this.readable = false;
      else if (this.#isEnding && this.#isTcp) this.hasReadAll = true;
    }
    return count;
  }

  write(region: Region, start: number, byteCount: number, endFollows = false): number {
    if (this.#lacksNoDelay) this.#considerDelay(byteCount);
    const flags = endFollows ? MSG_NOSIGNAL | MSG_MORE : MSG_NOSIGNAL;
    const count = send(this.descriptor, region.address + start, byteCount, flags);
    if (count !== byteCount) this.writable = false;
    return count;
  }

  noteRead(result: number): void {
    // A pipe that is full looks the same as a socket that is drained: see PosixPipe.
    if (result <= 0) this.readable = false;
  }

  noteWrite(result: number): void {
    if (result < 0) this.writable = false;
    // What waits to fill a segment leaves now.
    if (this.#lacksNoDelay) this.#setNoDelay();
  }

  takeError(): number {
    return takeSocketError(this.descriptor);
  }

  shutdownWrite(): number {
    return shutdown(this.descriptor, SHUT_WR);
  }

  reset(): void {
    if (this.descriptor >= 0) setLingerReset(this.descriptor);
    this.close();
  }

  close(): void {
    if (this.descriptor >= 0) this.#host.ledger.close(this.#givenUp());
  }

  localAddress(): SocketAddress {
    return localAddressOf(this.descriptor);
  }

  /** What `accept` was told about an IPv4 peer: no system call, and no text until it is asked for. */
  notePeer(address: number, port: number): void {
    this.#peerV4 = address;
    this.#peerPort = port;
  }

  remoteAddress(): SocketAddress {
    if (this.#peerV4 >= 0) return ipAddress(ipv4Text(this.#peerV4), this.#peerPort);
    try {
      return remoteAddressOf(this.descriptor);
    } catch {
      // It was reset already, which the next read tells: whoever has to do with it must get that far.
      return NOBODY;
    }
  }

  originalDestination(): SocketAddress | undefined {
    const { family } = this.localAddress();
    return family === "unix" ? undefined : originalDestinationOf(this.descriptor, family);
  }

  handOff(): HandOff {
    if (this.#lacksNoDelay) this.#setNoDelay();
    const descriptor = this.#givenUp();
    this.#host.ledger.forget(descriptor);
    return { descriptor };
  }

  attach(slot: number, generation: number): number {
    return this.#host.epoll.add(this.descriptor, STREAM_EVENTS, slot, generation);
  }

  detach(): void {
    this.#host.epoll.remove(this.descriptor);
  }

  noteReady(ready: number): void {
    if ((ready & READABLE) !== 0) this.readable = true;
    if ((ready & WRITABLE) !== 0) this.writable = true;
    if ((ready & HANGUP) !== 0) {
      this.#hungUp = true;
      this.#isEnding = (ready & ENDING) !== 0;
    }
  }

  #considerDelay(byteCount: number): void {
    if (this.#hasWritten || byteCount > SEGMENT_BYTES) this.#setNoDelay();
    this.#hasWritten = true;
  }

  #setNoDelay(): void {
    this.#lacksNoDelay = false;
    setNoDelay(this.descriptor);
  }

  #givenUp(): number {
    const { descriptor } = this;
    this.descriptor = -1;
    this.readable = false;
    this.writable = false;
    return descriptor;
  }
}
