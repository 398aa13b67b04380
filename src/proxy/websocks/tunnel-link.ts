import type { NetEventLoop } from "../../net/net-event-loop.ts";
import type { ChannelRole } from "../../net/selector-event-loop.ts";
import { Timer } from "../../net/timer-queue.ts";
import { ERRNO, errnoName } from "../../platform/errno.ts";
import type { DialTarget } from "../relay/dial-targets.ts";
import { type EndOwner, RelayEnd } from "../relay/relay-end.ts";
import { Conversation } from "./conversation.ts";
import type { TunnelServer } from "./tunnel-server.ts";

export interface LinkParts {
  readonly target: DialTarget;
  readonly server: TunnelServer;
  /** For all of it. */
  readonly timeoutMs: number;
  readonly bufferBytes: number;
  /** Key of the listener that it is for. */
  readonly listener: string;
  /** The server waits for the frame; the end is the receiver's now. */
  readonly linked: (end: RelayEnd) => void;
  /** It could not be made, with a negative errno and why in words. */
  readonly failed: (result: number, reason: string) => void;
}

/** A connection to a server of tunnels, up to the answer to its upgrade. */
export class TunnelLink implements EndOwner {
  readonly #net: NetEventLoop;
  readonly #parts: LinkParts;
  readonly #timer = new Timer(() => this.#fail(-ERRNO.ETIMEDOUT));
  #end: RelayEnd | undefined;

  constructor(net: NetEventLoop, parts: LinkParts) {
    this.#net = net;
    this.#parts = parts;
  }

  /** The receiver may be told before it returns. */
  start(): void {
    const { target, server, bufferBytes, timeoutMs } = this.#parts;
    const fd = server.secure(this.#net.provider.connect(target.address));
    const opened = fd.finishOpen();
    if (opened < 0 && opened !== -ERRNO.EINPROGRESS) {
      fd.close();
      this.#parts.failed(opened, errnoName(opened));
      return;
    }
    this.#end = new RelayEnd(fd, bufferBytes, this);
    this.#end.enter(this.#net.loop);
    this.#net.loop.arm(this.#timer, timeoutMs);
  }

  /** Gives up; nobody is told. */
  cancel(): void {
    this.#net.loop.disarm(this.#timer);
    this.#end?.leave(this.#net.loop, false);
    this.#end = undefined;
  }

  endReady(end: RelayEnd): void {
    const result = end.fd.finishOpen();
    if (result === -ERRNO.EINPROGRESS) return;
    if (result < 0) {
      this.#fail(result, "problem" in end.fd ? String(end.fd.problem) : "");
      return;
    }
    const { target, listener, server } = this.#parts;
    new Conversation(this.#net, {
      end,
      talk: server.upgrade(),
      role: { listener, server: target.key },
      ended: (step) => {
        if (step.kind === "done" && step.rest.length === 0) this.#done(end);
        else this.#fail(-ERRNO.EPROTO, step.kind === "failed" ? step.reason : "");
      },
      failed: (failure) => this.#fail(failure),
    }).start();
  }

  endDismissed(): void {
    this.#fail(-ERRNO.ECONNABORTED);
  }

  roleOf(): ChannelRole {
    return { listener: this.#parts.listener, server: this.#parts.target.key };
  }

  #done(end: RelayEnd): void {
    this.#net.loop.disarm(this.#timer);
    this.#end = undefined;
    this.#parts.linked(end);
  }

  #fail(result: number, reason = ""): void {
    if (this.#end === undefined) return;
    this.cancel();
    this.#parts.failed(result, reason === "" ? errnoName(result) : reason);
  }
}
