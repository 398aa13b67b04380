import { ERRNO } from "../platform/errno.ts";
import { formatSocketAddress, type SocketAddress } from "../platform/socket-address.ts";
import {
  type DatagramFd,
  type DatagramPeer,
  HANGUP,
  type PeerKey,
  READABLE,
  WRITABLE,
} from "./fd.ts";
import { HostRegistration, type HostSelector } from "./host-selector.ts";

interface Received {
  readonly bytes: Uint8Array;
  readonly from: SocketAddress;
}

/** What the datagram FDs of one loop share: the last batch that one of them received. */
export class ReceivedBatch {
  datagrams: readonly Received[] = [];
}

/** How a provider that is driven by callbacks sends and closes. */
export interface DatagramCarrier {
  /** `to` is undefined on a connected socket. */
  send(bytes: Uint8Array, to: SocketAddress | undefined): void;
  localAddress(): SocketAddress;
  close(): void;
  /** Whether datagrams of a sender are for it; all are where this is not given. */
  hears?(from: SocketAddress): boolean;
}

const BATCH = 64;
/** What a kernel would buffer; more is dropped, as UDP may. */
const MAX_WAITING = 1024;
const NO_REGION = { bytes: new Uint8Array(0), address: 0 };

/** A datagram FD on callbacks: the carrier calls `opened`, `failed` and `arrived`. */
export class HostDatagram implements DatagramFd {
  readonly #carrier: DatagramCarrier;
  readonly #batch: ReceivedBatch;
  readonly #registration: HostRegistration;
  readonly #waiting: Received[] = [];
  #outgoing: { readonly bytes: Uint8Array; readonly to: SocketAddress | undefined }[] = [];
  #openResult = -ERRNO.EINPROGRESS;
  #failure = 0;
  isClosed = false;

  constructor(selector: HostSelector, batch: ReceivedBatch, carrier: DatagramCarrier) {
    this.#registration = new HostRegistration(selector);
    this.#batch = batch;
    this.#carrier = carrier;
  }

  get readable(): boolean {
    return this.#waiting.length > 0 || this.#failure < 0;
  }

  get writable(): boolean {
    return this.#openResult === 0 && !this.isClosed;
  }

  opened(): void {
    this.#openResult = 0;
    this.#registration.report(WRITABLE);
  }

  /** It could not be opened; or, later, the system heard that a datagram did not arrive. */
  failed(result: number): void {
    if (this.#openResult === -ERRNO.EINPROGRESS) this.#openResult = result;
    else this.#failure = result;
    this.#registration.report(READABLE | WRITABLE | HANGUP);
  }

  arrived(bytes: Uint8Array, from: SocketAddress): void {
    if (this.isClosed || this.#waiting.length >= MAX_WAITING) return;
    if (this.#carrier.hears?.(from) === false) return;
    this.#waiting.push({ bytes, from });
    if (this.#waiting.length === 1) this.#registration.report(READABLE);
  }

  finishOpen(): number {
    return this.#openResult;
  }

  receive(): number {
    const failure = this.#failure;
    this.#failure = 0;
    if (failure < 0 && this.#waiting.length === 0) return failure;
    this.#batch.datagrams = this.#waiting.splice(0, BATCH);
    return this.#batch.datagrams.length;
  }

  datagram(index: number): Uint8Array {
    return this.#at(index).bytes;
  }

  byteCount(index: number): number {
    return this.#at(index).bytes.length;
  }

  senderKey(index: number): PeerKey {
    return formatSocketAddress(this.#at(index).from);
  }

  sender(index: number): DatagramPeer {
    return this.peer(this.#at(index).from);
  }

  peer(address: SocketAddress): DatagramPeer {
    return { address, key: formatSocketAddress(address), encoded: NO_REGION };
  }

  queue(bytes: Uint8Array, to?: DatagramPeer): boolean {
    if (this.#outgoing.length >= BATCH) return false;
    this.#outgoing.push({ bytes: bytes.slice(), to: to?.address });
    return true;
  }

  forward(index: number, to?: DatagramPeer): boolean {
    return this.queue(this.datagram(index), to);
  }

  keep(index: number, to?: DatagramPeer): boolean {
    return this.forward(index, to);
  }

  flush(): number {
    const outgoing = this.#outgoing;
    this.#outgoing = [];
    if (this.#openResult !== 0) return this.#openResult;
    for (const { bytes, to } of outgoing) this.#carrier.send(bytes, to);
    return outgoing.length;
  }

  localAddress(): SocketAddress {
    return this.#carrier.localAddress();
  }

  close(): void {
    if (this.isClosed) return;
    this.flush();
    this.isClosed = true;
    this.#waiting.length = 0;
    this.#registration.detach();
    this.#carrier.close();
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
    // The flags follow from what waits.
  }

  #at(index: number): Received {
    const datagram = this.#batch.datagrams[index];
    if (datagram === undefined)
      throw new RangeError(`datagram ${index} of ${this.#batch.datagrams.length}`);
    return datagram;
  }
}
