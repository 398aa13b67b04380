import { ERRNO } from "../../platform/errno.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import type { DatagramFd, DatagramPeer } from "../fd.ts";
import type { KcpHost } from "./kcp-host.ts";
import { HANDSHAKE_AT, SEALED_AT, TAG_BYTES, TYPE } from "./wire-form.ts";

/** What a kind of socket makes of datagrams. They are in the host's `incoming`, from 0 on. */
export interface DatagramTaker {
  opened(result: number): void;
  /** Nobody listens at the other end, as far as the system was told. */
  refused(): void;
  sealed(byteCount: number, index: number): void;
  handshake(type: number, byteCount: number, index: number): void;
}

/** Batches taken at a time: what else the loop has to do comes in between. */
const MAX_BATCHES = 16;

/** A UDP socket in the loop: reads what comes, and sends in batches. */
export class KcpSocket {
  readonly fd: DatagramFd;
  readonly #host: KcpHost;
  readonly #taker: DatagramTaker;
  #isOpening: boolean;
  #batchIndex = 0;

  constructor(host: KcpHost, fd: DatagramFd, taker: DatagramTaker) {
    this.#host = host;
    this.fd = fd;
    this.#taker = taker;
    this.#isOpening = fd.finishOpen() === -ERRNO.EINPROGRESS;
  }

  localAddress(): SocketAddress {
    return this.fd.localAddress();
  }

  /** Of the datagram that is being read. */
  sender(): DatagramPeer {
    return this.fd.sender(this.#batchIndex);
  }

  senderKey(): number | string {
    return this.fd.senderKey(this.#batchIndex);
  }

  /** An event of it came. True where more waits than was taken. */
  ready(events: number): boolean {
    this.fd.noteReady(events);
    if (this.#isOpening) {
      const result = this.fd.finishOpen();
      if (result === -ERRNO.EINPROGRESS) return false;
      this.#isOpening = false;
      this.#taker.opened(result);
      if (result < 0) return false;
    }
    return this.takeWaiting();
  }

  takeWaiting(): boolean {
    for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
      if (this.fd.isClosed) return false;
      const count = this.fd.receive();
      if (count === -ERRNO.ECONNREFUSED) this.#taker.refused();
      else if (count <= 0) return false;
      for (let index = 0; index < count && !this.fd.isClosed; index += 1) this.#take(index);
    }
    return true;
  }

  send(datagram: Uint8Array, to?: DatagramPeer): void {
    if (this.fd.isClosed) return;
    if (!this.fd.queue(datagram, to)) {
      this.flush();
      this.fd.queue(datagram, to);
    }
    this.#host.markDirty(this);
  }

  flush(): void {
    if (!this.fd.isClosed && this.fd.flush() === -ERRNO.ECONNREFUSED) this.#taker.refused();
  }

  #take(index: number): void {
    const { counters, incoming, incomingView } = this.#host;
    const byteCount = this.fd.byteCount(index);
    counters.datagramsIn += 1;
    counters.bytesIn += byteCount;
    this.#batchIndex = index;
    if (byteCount < HANDSHAKE_AT + TAG_BYTES || byteCount > this.#host.options.datagramBytes) {
      counters.strangeDatagrams += 1;
      return;
    }
    incoming.bytes.set(this.fd.datagram(index));
    const type = incoming.bytes[0];
    switch (type) {
      case TYPE.SEALED:
        if (byteCount >= SEALED_AT + TAG_BYTES) {
          this.#taker.sealed(byteCount, incomingView.getUint32(8, true));
        }
        return;
      case TYPE.INITIATION:
      case TYPE.RESPONSE:
      case TYPE.RESET:
        this.#taker.handshake(type, byteCount, incomingView.getUint32(4, true));
        return;
      default:
        counters.strangeDatagrams += 1;
    }
  }
}
