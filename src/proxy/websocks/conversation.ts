import type { NetEventLoop } from "../../net/net-event-loop.ts";
import type { ChannelRole } from "../../net/selector-event-loop.ts";
import { ERRNO } from "../../platform/errno.ts";
import type { ClientStep, ClientTalk } from "../../wire/websocks/client-step.ts";
import type { EndOwner, RelayEnd } from "../relay/relay-end.ts";

export interface ConversationParts {
  readonly end: RelayEnd;
  readonly talk: ClientTalk;
  readonly role: ChannelRole;
  /** It came to its end, whichever; the connection is the receiver's again. */
  readonly ended: (step: Exclude<ClientStep, { kind: "more" }>) => void;
  /** The connection failed, with a negative errno. */
  readonly failed: (result: number) => void;
}

/** A talk with a server over a connection that stands. Whoever began it sees to the time. */
export class Conversation implements EndOwner {
  readonly #net: NetEventLoop;
  readonly #parts: ConversationParts;
  #isOver = false;

  constructor(net: NetEventLoop, parts: ConversationParts) {
    this.#net = net;
    this.#parts = parts;
    parts.end.owner = this;
  }

  start(): void {
    if (this.#say(this.#parts.talk.first)) this.#read();
  }

  endReady(): void {
    this.#read();
  }

  endDismissed(): void {
    this.#fail(-ERRNO.ECONNABORTED);
  }

  roleOf(): ChannelRole {
    return this.#parts.role;
  }

  #read(): void {
    const { scratch } = this.#net;
    const { end, talk, ended } = this.#parts;
    while (!this.#isOver && end.fd.readable) {
      const count = end.fd.read(scratch, 0, end.bufferBytes);
      if (count === -ERRNO.EAGAIN) return;
      if (count <= 0) {
        this.#fail(count === 0 ? -ERRNO.ECONNRESET : count);
        return;
      }
      end.received += count;
      const step = talk.feed(Buffer.from(scratch.bytes.subarray(0, count)));
      if (step.kind !== "more") {
        this.#isOver = true;
        ended(step);
      } else if (step.say !== undefined && !this.#say(step.say)) return;
    }
  }

  /** Short words always fit into a connection on which little was said. */
  #say(bytes: Buffer): boolean {
    const { scratch } = this.#net;
    const { end } = this.#parts;
    scratch.bytes.set(bytes);
    const count = end.fd.write(scratch, 0, bytes.length);
    if (count === bytes.length) {
      end.sent += count;
      return true;
    }
    this.#fail(count < 0 && count !== -ERRNO.EAGAIN ? count : -ERRNO.ENOBUFS);
    return false;
  }

  #fail(result: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#parts.failed(result);
  }
}
