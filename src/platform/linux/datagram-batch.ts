import type { SocketAddress } from "../socket-address.ts";
import {
  IOVEC_BYTES,
  MMSGHDR_BYTES,
  MMSGHDR_LEN,
  MSGHDR_CONTROL,
  MSGHDR_CONTROLLEN,
  MSGHDR_IOV,
  MSGHDR_IOVLEN,
  MSGHDR_NAME,
  MSGHDR_NAMELEN,
  SOCKADDR_BYTES,
} from "./abi.ts";
import {
  allocateNative,
  getSize,
  type NativeMemory,
  putPointer,
  putSize,
} from "./native-memory.ts";
import { answerFrom, PACKET_INFO_BYTES } from "./packet-info.ts";
import { getSockaddr, sockaddrKey } from "./sockaddr.ts";
import { recvmmsg, send, sendmmsg } from "./socket-calls.ts";

/** The most that a datagram holds over IPv4 and IPv6, rounded up. */
const MAX_DATAGRAM_BYTES = 65_536;

/** Datagrams received with one recvmmsg(2), in place until the next one. */
export class ReceiveBatch {
  readonly #count: number;
  readonly #headers: NativeMemory;
  readonly #names: NativeMemory;
  readonly #controls: NativeMemory;
  readonly #payload: NativeMemory;
  /** How many headers hold lengths of a name and a control message that are not all the room. */
  #named: number;

  constructor(count: number) {
    this.#count = count;
    this.#named = count;
    this.#headers = allocateNative(count * (MMSGHDR_BYTES + IOVEC_BYTES));
    this.#names = allocateNative(count * SOCKADDR_BYTES);
    this.#controls = allocateNative(count * PACKET_INFO_BYTES);
    // Pages that no datagram reaches are never touched, so they cost nothing.
    this.#payload = allocateNative(count * MAX_DATAGRAM_BYTES);
    const iovecs = count * MMSGHDR_BYTES;
    const { view, address } = this.#headers;
    for (let index = 0; index < count; index += 1) {
      const header = index * MMSGHDR_BYTES;
      const iovec = iovecs + index * IOVEC_BYTES;
      putPointer(view, header + MSGHDR_NAME, this.#names.address + index * SOCKADDR_BYTES);
      putPointer(view, header + MSGHDR_IOV, address + iovec);
      putSize(view, header + MSGHDR_IOVLEN, 1);
      putPointer(view, header + MSGHDR_CONTROL, this.#controls.address + index * PACKET_INFO_BYTES);
      putPointer(view, iovec, this.payloadAddress(index));
      putSize(view, iovec + 8, MAX_DATAGRAM_BYTES);
    }
  }

  /** How many datagrams, or a negative errno. */
  receive(fd: number): number {
    const { view, address } = this.#headers;
    // The kernel has written the lengths of what it gave, and no others.
    for (let index = 0; index < this.#named; index += 1) {
      const header = index * MMSGHDR_BYTES;
      view.setUint32(header + MSGHDR_NAMELEN, SOCKADDR_BYTES, true);
      view.setUint32(header + MSGHDR_CONTROLLEN, PACKET_INFO_BYTES, true);
    }
    const received = recvmmsg(fd, address, this.#count, 0);
    this.#named = Math.max(0, received);
    return received;
  }

  get capacity(): number {
    return this.#count;
  }

  lengthOf(index: number): number {
    return this.#headers.view.getUint32(index * MMSGHDR_BYTES + MMSGHDR_LEN, true);
  }

  payloadAddress(index: number): number {
    return this.#payload.address + index * MAX_DATAGRAM_BYTES;
  }

  bytesOf(index: number): Uint8Array {
    const start = index * MAX_DATAGRAM_BYTES;
    return this.#payload.bytes.subarray(start, start + this.lengthOf(index));
  }

  keyOf(index: number): number | string {
    return sockaddrKey(this.#names.view, index * SOCKADDR_BYTES, this.#nameLength(index));
  }

  senderOf(index: number): SocketAddress {
    return getSockaddr(this.#names.view, index * SOCKADDR_BYTES, this.#nameLength(index));
  }

  /** For answers from the address that was called; undefined where the socket has only one. */
  calledOf(index: number): NativeMemory | undefined {
    const length = getSize(this.#headers.view, index * MMSGHDR_BYTES + MSGHDR_CONTROLLEN);
    const start = index * PACKET_INFO_BYTES;
    return answerFrom(this.#controls.bytes.subarray(start, start + length));
  }

  #nameLength(index: number): number {
    return this.#headers.view.getUint32(index * MMSGHDR_BYTES + MSGHDR_NAMELEN, true);
  }
}

type Place = Pick<NativeMemory, "address" | "bytes">;

/** Where a datagram goes. */
export interface Destination {
  /** A sockaddr. */
  readonly encoded: Place;
  /** What `ReceiveBatch.calledOf` gave: the address of this machine that it goes out from. */
  readonly called?: Place | undefined;
}

const NOTHING: Place = { address: 0, bytes: new Uint8Array(0) };

/** Datagrams queued for one sendmmsg(2). It refers to memory of others until `send`. */
export class SendBatch {
  readonly #capacity: number;
  readonly #headers: NativeMemory;
  /** The kernel reads their memory when they are sent: until then it must not be freed. */
  readonly #held: (Destination | undefined)[] = [];
  #count = 0;
  /**
   * The first: most sessions send one datagram at a time, to where the socket is connected to, and
   * send(2) does that with less for the kernel to read.
   */
  #payload = 0;
  #byteCount = 0;
  #isPlain = false;

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#headers = allocateNative(capacity * (MMSGHDR_BYTES + IOVEC_BYTES));
    const { view, address } = this.#headers;
    for (let index = 0; index < capacity; index += 1) {
      const header = index * MMSGHDR_BYTES;
      putPointer(view, header + MSGHDR_IOV, address + this.#iovecOf(index));
      putSize(view, header + MSGHDR_IOVLEN, 1);
    }
  }

  get count(): number {
    return this.#count;
  }

  get isFull(): boolean {
    return this.#count === this.#capacity;
  }

  /**
   * @param payload address of the bytes
   * @param to where it goes; undefined on a connected socket
   */
  add(payload: number, byteCount: number, to: Destination | undefined): void {
    if (this.#count === 0) {
      this.#payload = payload;
      this.#byteCount = byteCount;
      this.#isPlain = to === undefined && byteCount > 0;
    }
    const { view } = this.#headers;
    const header = this.#count * MMSGHDR_BYTES;
    const iovec = this.#iovecOf(this.#count);
    const { encoded = NOTHING, called = NOTHING } = to ?? {};
    putPointer(view, header + MSGHDR_NAME, encoded.address);
    view.setUint32(header + MSGHDR_NAMELEN, encoded.bytes.length, true);
    putPointer(view, header + MSGHDR_CONTROL, called.address);
    putSize(view, header + MSGHDR_CONTROLLEN, called.bytes.length);
    this.#held[this.#count] = to;
    putPointer(view, iovec, payload);
    putSize(view, iovec + 8, byteCount);
    this.#count += 1;
  }

  /**
   * Sends from `first` on: how many went out, or a negative errno for the first of them. The batch
   * stays as it is until `clear`.
   */
  send(fd: number, first: number): number {
    if (this.#count === 1 && this.#isPlain) {
      const sent = send(fd, this.#payload, this.#byteCount, 0);
      return sent < 0 ? sent : 1;
    }
    const { address } = this.#headers;
    return sendmmsg(fd, address + first * MMSGHDR_BYTES, this.#count - first, 0);
  }

  clear(): void {
    this.#count = 0;
  }

  #iovecOf(index: number): number {
    return this.#capacity * MMSGHDR_BYTES + index * IOVEC_BYTES;
  }
}
