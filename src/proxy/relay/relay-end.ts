import type { Pipe, StreamFd } from "../../net/fd.ts";
import { SCRATCH_BYTES } from "../../net/net-event-loop.ts";
import type { Region } from "../../net/region.ts";
import type {
  ChannelDescription,
  ChannelEnds,
  ChannelId,
  ChannelRole,
  ReadyHandler,
  SelectorEventLoop,
} from "../../net/selector-event-loop.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import type { BodyPassage } from "../../wire/http1/body-passage.ts";

/** Whose an end is right now. */
export interface EndOwner {
  /** As `ReadyHandler.onReady`. */
  endReady(end: RelayEnd, ready: number): void;
  /** The loop ends, or somebody wants it closed: closes all that belongs to it. */
  endDismissed(): void;
  /** What an end is a part of, for those who list connections. */
  roleOf?(end: RelayEnd): ChannelRole;
}

/**
 * One end of a session, and what is on its way from it to the other end. Its owner may change, from
 * whoever opens the session to whoever moves the bytes, without the loop being told.
 */
export class RelayEnd implements ReadyHandler {
  readonly fd: StreamFd;
  owner: EndOwner;
  /** Bytes that came from it. */
  received = 0;
  /** Bytes that went to it. */
  sent = 0;
  /** Its FIN was read; and passed on. */
  hasEnded = false;
  isEndPassed = false;
  /** The message that is for the other end; what comes behind it ends both. Undefined: all that comes is. */
  passage: BodyPassage | undefined;
  /** How many reads in a row filled the buffer. */
  bulkReads = 0;
  /** The most that is read at once. */
  readonly bufferBytes: number;
  pipe: Pipe | undefined;
  /** What the other end could not take yet: from `restStart` to `restEnd`. */
  rest: Region | undefined;
  restStart = 0;
  restEnd = 0;
  #id: ChannelId | undefined;

  constructor(fd: StreamFd, bufferBytes: number, owner: EndOwner) {
    this.fd = fd;
    this.bufferBytes = Math.min(bufferBytes, SCRATCH_BYTES);
    this.owner = owner;
  }

  /** Throws where the system refuses. */
  enter(loop: SelectorEventLoop): void {
    this.#id = loop.add(this.fd, this);
  }

  /** Closes it, with a reset where the stream did not come to its proper end. */
  leave(loop: SelectorEventLoop, withReset: boolean): void {
    if (withReset) this.fd.reset();
    else this.fd.close();
    if (this.#id !== undefined) loop.remove(this.#id);
    this.#id = undefined;
  }

  /** Whether something can or could be moved from here. */
  get hasWaiting(): boolean {
    return (
      this.fd.readable ||
      this.rest !== undefined ||
      this.pipe !== undefined ||
      (this.hasEnded && !this.isEndPassed)
    );
  }

  /** Puts bytes before all that will be read from it: the other end gets them first. */
  putFirst(bytes: Uint8Array, region: Region): void {
    region.bytes.set(bytes);
    this.rest = region;
    this.restStart = 0;
    this.restEnd = bytes.length;
  }

  /** What `putFirst` has put, for somebody who puts more before it. */
  takeFirst(): Uint8Array {
    const bytes = this.rest?.bytes.subarray(this.restStart, this.restEnd);
    this.rest = undefined;
    return bytes ?? new Uint8Array(0);
  }

  onReady(ready: number): void {
    this.owner.endReady(this, ready);
  }

  onRemoved(): void {
    this.#id = undefined;
    this.owner.endDismissed();
  }

  dismiss(): void {
    this.owner.endDismissed();
  }

  describe(): ChannelDescription {
    return {
      kind: "connection",
      local: this.fd.localAddress(),
      remote: this.fd.remoteAddress(),
      bytesIn: this.received,
      bytesOut: this.sent,
      ...this.owner.roleOf?.(this),
    };
  }

  /** @param remote where it leads to: asking the system costs, and fails once the peer is gone. */
  endsTo(remote: SocketAddress): ChannelEnds {
    return { local: this.fd.localAddress(), remote };
  }
}
