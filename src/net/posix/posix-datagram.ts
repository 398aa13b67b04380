import { ERRNO } from "../../platform/errno.ts";
import { SOCKADDR_BYTES } from "../../platform/linux/abi.ts";
import { ReceiveBatch, SendBatch } from "../../platform/linux/datagram-batch.ts";
import { duplicate } from "../../platform/linux/io-calls.ts";
import { allocateNative, type NativeMemory } from "../../platform/linux/native-memory.ts";
import { putSockaddr, sockaddrKey } from "../../platform/linux/sockaddr.ts";
import { localAddressOf } from "../../platform/linux/socket-names.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import { type DatagramFd, type DatagramPeer, type PeerKey, READABLE, WRITABLE } from "../fd.ts";
import type { OpenedSocket } from "./open-socket.ts";
import type { PosixHost } from "./posix-host.ts";
import { DATAGRAM_EVENTS } from "./posix-selector.ts";

const BATCH = 64;
const MAX_DATAGRAM_BYTES = 65_536;

/** What the datagram FDs of one loop share: one batch that came in, one that goes out. */
export class DatagramMemory {
  readonly received: ReceiveBatch = new ReceiveBatch(BATCH);
  readonly outgoing: SendBatch = new SendBatch(BATCH);
  /** Where copies of queued datagrams are until they are sent. */
  readonly copies: NativeMemory = allocateNative(BATCH * MAX_DATAGRAM_BYTES);
  /** Whose datagrams are in `outgoing`. */
  sender: PosixDatagram | undefined;
}

/** A UDP socket, non-blocking. A borrowed one is closed by another thread, never here. */
export class PosixDatagram implements DatagramFd {
  readable = false;
  writable = true;
  readonly #host: PosixHost;
  readonly #memory: DatagramMemory;
  #descriptor: number;
  readonly #openResult: number;
  readonly #isBorrowed: boolean;
  readonly #isShared: boolean;

  constructor(
    host: PosixHost,
    memory: DatagramMemory,
    socket: OpenedSocket & { readonly isBorrowed: boolean; readonly isShared?: boolean },
  ) {
    this.#host = host;
    this.#memory = memory;
    this.#descriptor = socket.descriptor;
    this.#openResult = socket.result;
    this.#isBorrowed = socket.isBorrowed;
    this.#isShared = socket.isShared ?? false;
    if (socket.descriptor >= 0 && !socket.isBorrowed) host.ledger.note(socket.descriptor);
  }

  get isClosed(): boolean {
    return this.#descriptor < 0;
  }

  finishOpen(): number {
    return this.#openResult;
  }

  receive(): number {
    const { received } = this.#memory;
    const count = received.receive(this.#descriptor);
    if (count < received.capacity) this.readable = false;
    return count === -ERRNO.EAGAIN ? 0 : count;
  }

  datagram(index: number): Uint8Array {
    return this.#memory.received.bytesOf(index);
  }

  byteCount(index: number): number {
    return this.#memory.received.lengthOf(index);
  }

  senderKey(index: number): PeerKey {
    return this.#memory.received.keyOf(index);
  }

  sender(index: number): DatagramPeer {
    const { received } = this.#memory;
    return { ...this.peer(received.senderOf(index)), called: received.calledOf(index) };
  }

  peer(address: SocketAddress): DatagramPeer {
    const memory = allocateNative(SOCKADDR_BYTES);
    const length = putSockaddr(memory.view, 0, address);
    return {
      address,
      key: sockaddrKey(memory.view, 0, length),
      encoded: { bytes: memory.bytes.subarray(0, length), address: memory.address },
    };
  }

  queue(bytes: Uint8Array, to?: DatagramPeer): boolean {
    const { outgoing, copies } = this.#memory;
    if (!this.#canQueue()) return false;
    const start = outgoing.count * MAX_DATAGRAM_BYTES;
    copies.bytes.set(bytes, start);
    outgoing.add(copies.address + start, bytes.length, to);
    return true;
  }

  forward(index: number, to?: DatagramPeer): boolean {
    const { received, outgoing } = this.#memory;
    if (!this.#canQueue()) return false;
    outgoing.add(received.payloadAddress(index), received.lengthOf(index), to);
    return true;
  }

  keep(index: number, to?: DatagramPeer): boolean {
    return this.queue(this.#memory.received.bytesOf(index), to);
  }

  flush(): number {
    const memory = this.#memory;
    if (memory.sender !== this) return 0;
    const { outgoing } = memory;
    let sent = 0;
    let next = 0;
    let failed = 0;
    while (next < outgoing.count) {
      const count = outgoing.send(this.#descriptor, next);
      if (count > 0) sent += count;
      else failed = count;
      if (count === -ERRNO.EAGAIN) {
        this.writable = false;
        break;
      }
      // One that is refused (no such host, too long) does not hold up the others.
      next += Math.max(1, count);
    }
    outgoing.clear();
    memory.sender = undefined;
    if (failed !== -ERRNO.EAGAIN) this.writable = true;
    return sent === 0 ? failed : sent;
  }

  localAddress(): SocketAddress {
    return localAddressOf(this.#descriptor);
  }

  close(): void {
    if (this.#descriptor < 0) return;
    this.flush();
    // As long as the socket is open elsewhere, epoll goes on with it.
    if (this.#isBorrowed || this.#isShared) this.detach();
    if (!this.#isBorrowed) this.#host.ledger.close(this.#descriptor);
    this.#descriptor = -1;
    this.readable = false;
    this.writable = false;
  }

  share(): DatagramFd {
    const descriptor = duplicate(this.#descriptor);
    const result = Math.min(0, descriptor);
    const socket = { descriptor, result, isBorrowed: false, isShared: true };
    return new PosixDatagram(this.#host, this.#memory, socket);
  }

  attach(slot: number, generation: number): number {
    return this.#host.epoll.add(this.#descriptor, DATAGRAM_EVENTS, slot, generation);
  }

  detach(): void {
    this.#host.epoll.remove(this.#descriptor);
  }

  noteReady(ready: number): void {
    if ((ready & READABLE) !== 0) this.readable = true;
    if ((ready & WRITABLE) !== 0) this.writable = true;
  }

  /** The batch is of one socket at a time: what another one left in it is sent first. */
  #canQueue(): boolean {
    const memory = this.#memory;
    if (memory.sender !== this) {
      memory.sender?.flush();
      memory.sender = this;
    }
    return !memory.outgoing.isFull;
  }
}
