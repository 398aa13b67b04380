import type { StreamFd } from "../../net/fd.ts";
import { ERRNO } from "../../platform/errno.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";

/** Something that a connection can be made to. */
export interface DialTarget {
  /** Key of the server that it is; empty where it is of no group. */
  readonly key: string;
  readonly address: SocketAddress;
  /** A connection that is being made to it, as it is spoken on: within TLS. Missing: as it is. */
  secured?(fd: StreamFd): StreamFd;
  /** Whether datagrams must not be sent there: its TLS, or its tunnel, is for streams. Missing: they may. */
  readonly isForStreams?: boolean;
  /** A connection to it begins; `closed` follows, whatever becomes of it. */
  opened(): void;
  closed(): void;
  connected(): void;
  /** How long it took to connect, or to answer. */
  tookMs(latencyMs: number): void;
  /** It could not be made, with a negative errno. */
  failed(result: number): void;
  /** Bytes from and to the client. */
  moved(bytesIn: number, bytesOut: number): void;
}

/** Where a connection may go to, one after the other: each is asked for when the one before failed. */
export interface DialTargets {
  next(): DialTarget | undefined;
  /** The negative errno that stands for there being none at all. */
  readonly noneResult: number;
}

/** Targets that are known beforehand. */
export class ListTargets implements DialTargets {
  readonly noneResult: number;
  readonly #left: DialTarget[];

  constructor(targets: readonly DialTarget[], noneResult: number = -ERRNO.EHOSTUNREACH) {
    this.#left = [...targets];
    this.noneResult = noneResult;
  }

  next(): DialTarget | undefined {
    return this.#left.shift();
  }
}

/** An address that is of no group. */
export class PlainTarget implements DialTarget {
  readonly address: SocketAddress;

  constructor(address: SocketAddress) {
    this.address = address;
  }

  get key(): string {
    return "";
  }

  // Nobody counts what goes there.
  opened(): void {}
  closed(): void {}
  connected(): void {}
  tookMs(): void {}
  failed(): void {}
  moved(): void {}
}
