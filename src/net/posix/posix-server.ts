import { ERRNO } from "../../platform/errno.ts";
import {
  AF_INET,
  AF_UNIX,
  SOCK_CLOEXEC,
  SOCK_NONBLOCK,
  SOCKADDR_BYTES,
} from "../../platform/linux/abi.ts";
import { allocateNative } from "../../platform/linux/native-memory.ts";
import { accept4 } from "../../platform/linux/socket-calls.ts";
import { localAddressOf } from "../../platform/linux/socket-names.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import type { ServerFd, StreamFd } from "../fd.ts";
import type { PosixHost } from "./posix-host.ts";
import { SERVER_EVENTS } from "./posix-selector.ts";
import { PosixStream } from "./posix-stream.ts";

/** The sockaddr of the last accepted peer, then its length. One at a time on a thread. */
const peer = allocateNative(SOCKADDR_BYTES + 16);
const LENGTH = SOCKADDR_BYTES;
const ACCEPT_FLAGS = SOCK_NONBLOCK | SOCK_CLOEXEC;

/** A listening socket. A borrowed one is closed by another thread, never here. */
export class PosixServer implements ServerFd {
  acceptError = 0;
  readonly #host: PosixHost;
  #descriptor: number;
  readonly #openResult: number;
  readonly #isBorrowed: boolean;

  constructor(
    host: PosixHost,
    socket: {
      readonly descriptor: number;
      readonly openResult: number;
      readonly isBorrowed: boolean;
    },
  ) {
    this.#host = host;
    this.#descriptor = socket.descriptor;
    this.#openResult = socket.openResult;
    this.#isBorrowed = socket.isBorrowed;
    if (socket.descriptor >= 0 && !socket.isBorrowed) host.ledger.note(socket.descriptor);
  }

  get isClosed(): boolean {
    return this.#descriptor < 0;
  }

  finishOpen(): number {
    return this.#openResult;
  }

  accept(): StreamFd | undefined {
    for (;;) {
      peer.view.setInt32(LENGTH, SOCKADDR_BYTES, true);
      const result = accept4(this.#descriptor, peer.address, peer.address + LENGTH, ACCEPT_FLAGS);
      if (result >= 0) return this.#accepted(result);
      // One that gave up while it waited is no reason to leave the others waiting.
      if (result === -ERRNO.ECONNABORTED || result === -ERRNO.EINTR) continue;
      this.acceptError = result === -ERRNO.EAGAIN ? 0 : result;
      return undefined;
    }
  }

  #accepted(descriptor: number): StreamFd {
    this.acceptError = 0;
    const family = peer.view.getUint16(0, true);
    const stream = new PosixStream(this.#host, descriptor, { isTcp: family !== AF_UNIX });
    if (family === AF_INET) {
      stream.notePeer(peer.view.getUint32(4), peer.view.getUint16(2));
    }
    return stream;
  }

  localAddress(): SocketAddress {
    return localAddressOf(this.#descriptor);
  }

  close(): void {
    if (this.#descriptor < 0) return;
    if (this.#isBorrowed) this.detach();
    else this.#host.ledger.close(this.#descriptor);
    this.#descriptor = -1;
  }

  attach(slot: number, generation: number): number {
    return this.#host.epoll.add(this.#descriptor, SERVER_EVENTS, slot, generation);
  }

  detach(): void {
    this.#host.epoll.remove(this.#descriptor);
  }

  noteReady(): void {
    // `accept` finds out by itself.
  }
}
