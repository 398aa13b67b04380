import { ERRNO } from "../../platform/errno.ts";
import { SHUT_WR } from "../../platform/linux/abi.ts";
import { read, write } from "../../platform/linux/io-calls.ts";
import { originalDestinationOf } from "../../platform/linux/original-destination.ts";
import { ipv4Text } from "../../platform/linux/sockaddr.ts";
import { shutdown } from "../../platform/linux/socket-calls.ts";
import { localAddressOf, remoteAddressOf } from "../../platform/linux/socket-names.ts";
import { setLingerReset, takeSocketError } from "../../platform/linux/socket-options.ts";
import { ipAddress, type SocketAddress } from "../../platform/socket-address.ts";
import { HANGUP, type HandOff, READABLE, type SpliceEnd, type StreamFd, WRITABLE } from "../fd.ts";
import type { Region } from "../region.ts";
import type { PosixHost } from "./posix-host.ts";
import { STREAM_EVENTS } from "./posix-selector.ts";

const NOBODY: SocketAddress = ipAddress("::", 0);

/** A TCP or unix socket, non-blocking. */
export class PosixStream implements StreamFd, SpliceEnd {
  /** -1 once it is closed: whoever still uses it gets EBADF, never what took its number. */
  descriptor: number;
  readable = false;
  writable: boolean;
  readonly #host: PosixHost;
  #openResult: number;
  #hungUp = false;
  #peerV4 = -1;
  #peerPort = 0;

  /** @param openResult as `finishOpen` gives it; where it failed, there is no descriptor (-1). */
  constructor(host: PosixHost, descriptor: number, openResult: number) {
    this.#host = host;
    this.descriptor = descriptor;
    this.#openResult = openResult;
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
    const count = read(this.descriptor, region.address + start, byteCount);
    // epoll(7): a short read has drained a stream, unless its end is there to be read too.
    if (count !== byteCount && (count <= 0 || !this.#hungUp)) this.readable = false;
    return count;
  }

  write(region: Region, start: number, byteCount: number): number {
    const count = write(this.descriptor, region.address + start, byteCount);
    if (count !== byteCount) this.writable = false;
    return count;
  }

  noteRead(result: number): void {
    // A pipe that is full looks the same as a socket that is drained: see PosixPipe.
    if (result <= 0) this.readable = false;
  }

  noteWrite(result: number): void {
    if (result < 0) this.writable = false;
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
    if ((ready & HANGUP) !== 0) this.#hungUp = true;
  }

  #givenUp(): number {
    const { descriptor } = this;
    this.descriptor = -1;
    this.readable = false;
    this.writable = false;
    return descriptor;
  }
}
