import type { NetEventLoop } from "../../net/net-event-loop.ts";
import type { ChannelRole } from "../../net/selector-event-loop.ts";
import { ERRNO } from "../../platform/errno.ts";
import { PONG_FRAME } from "../../wire/websocks/websocks-words.ts";
import type { EndOwner, RelayEnd } from "../relay/relay-end.ts";

/** A connection to a server of tunnels that waits to be used. */
export class ReadyLink implements EndOwner {
  readonly end: RelayEnd;
  readonly #net: NetEventLoop;
  readonly #role: ChannelRole;
  readonly #gone: (link: ReadyLink) => void;

  /** @param gone it has ended by itself, and is closed */
  constructor(
    net: NetEventLoop,
    end: RelayEnd,
    role: ChannelRole,
    gone: (link: ReadyLink) => void,
  ) {
    this.#net = net;
    this.end = end;
    this.#role = role;
    this.#gone = gone;
    end.owner = this;
  }

  /** Says that it is still wanted, to the server and to all that stand between. */
  keepAlive(): void {
    const { scratch } = this.#net;
    scratch.bytes.set(PONG_FRAME);
    const count = this.end.fd.write(scratch, 0, PONG_FRAME.length);
    if (count === PONG_FRAME.length) this.end.sent += count;
    else this.endDismissed();
  }

  /** A server has nothing to say now, other than that it goes. */
  endReady(): void {
    const { scratch } = this.#net;
    if (!this.end.fd.readable) return;
    const count = this.end.fd.read(scratch, 0, scratch.bytes.length);
    if (count !== -ERRNO.EAGAIN) this.endDismissed();
  }

  endDismissed(): void {
    this.close();
    this.#gone(this);
  }

  roleOf(): ChannelRole {
    return this.#role;
  }

  close(): void {
    this.end.leave(this.#net.loop, false);
  }
}
