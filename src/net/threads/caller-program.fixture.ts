/** A program for tests: makes short connections, so many a second whatever becomes of them, and counts. */
import { ERRNO, errnoName } from "../../platform/errno.ts";
import type { IpSocketAddress } from "../../platform/socket-address.ts";
import { READABLE, type StreamFd } from "../fd.ts";
import type { NetEventLoop } from "../net-event-loop.ts";
import type { ChannelId, ReadyHandler } from "../selector-event-loop.ts";
import { runLoopProgram } from "./run-loop-program.ts";

export type CallerCommand =
  | {
      readonly kind: "start";
      readonly to: IpSocketAddress;
      /** No more are open at a time; where that hinders, fewer are offered than are due. */
      readonly atATime: number;
      readonly perSecond: number;
    }
  /** Asks for the report "level" once all that is due has been offered. */
  | { readonly kind: "level" }
  | { readonly kind: "stop" };

/** What it reports when the last connection after "stop" has ended. */
export interface CallerResult {
  /** How many the rate asked for, from "start" to "stop". */
  readonly due: number;
  /** How many of them were made. */
  readonly offered: number;
  readonly succeeded: number;
  readonly failed: Readonly<Record<string, number>>;
}

const TICK_MS = 5;
const MS_PER_SECOND = 1000;
const MESSAGE = "are you there?";
const TIMEOUT_MS = 10_000;

/** Connects, says something, waits for the same back, and closes. */
class Call implements ReadyHandler {
  readonly #net: NetEventLoop;
  readonly #fd: StreamFd;
  readonly #id: ChannelId | undefined;
  readonly #onEnd: (failure: string | undefined) => void;
  readonly #timeout: { cancel(): void };
  #isSent = false;
  #heard = 0;

  constructor(
    net: NetEventLoop,
    to: IpSocketAddress,
    onEnd: (failure: string | undefined) => void,
  ) {
    this.#net = net;
    this.#onEnd = onEnd;
    this.#fd = net.provider.connect(to);
    this.#timeout = net.loop.delay(TIMEOUT_MS, () => this.#end("no answer"));
    const opened = this.#fd.finishOpen();
    if (opened === 0 || opened === -ERRNO.EINPROGRESS) this.#id = net.loop.add(this.#fd, this);
    else this.#end(errnoName(opened));
  }

  onReady(ready: number): void {
    if (!this.#isSent && !this.#say()) return;
    if ((ready & READABLE) === 0) return;
    const { scratch } = this.#net;
    const count = this.#fd.read(scratch, 0, scratch.bytes.length);
    if (count > 0) {
      this.#heard += count;
      if (this.#heard >= MESSAGE.length) this.#end(undefined);
    } else if (count !== -ERRNO.EAGAIN) {
      this.#end(count === 0 ? "closed early" : errnoName(count));
    }
  }

  onRemoved(): void {
    this.#end("loop ended");
  }

  #say(): boolean {
    const opened = this.#fd.finishOpen();
    if (opened < 0 && opened !== -ERRNO.EINPROGRESS) this.#end(errnoName(opened));
    if (opened !== 0) return false;
    this.#isSent = true;
    const { scratch } = this.#net;
    new TextEncoder().encodeInto(MESSAGE, scratch.bytes);
    this.#fd.write(scratch, 0, MESSAGE.length);
    return true;
  }

  #end(failure: string | undefined): void {
    this.#timeout.cancel();
    this.#fd.close();
    if (this.#id !== undefined) this.#net.loop.remove(this.#id);
    this.#onEnd(failure);
  }
}

runLoopProgram(({ net, report }) => {
  let open = 0;
  let succeeded = 0;
  const failed: Record<string, number> = {};
  let ticking: { cancel(): void } | undefined;
  let isStopping = false;
  let due = 0;
  let offered = 0;
  let isLevelAwaited = false;
  let offer = (): void => undefined;
  const tell = (): void => report({ due, offered, succeeded, failed } satisfies CallerResult);
  const ended = (failure: string | undefined): void => {
    open -= 1;
    if (failure === undefined) succeeded += 1;
    else failed[failure] = (failed[failure] ?? 0) + 1;
    if (isStopping && open === 0) tell();
  };
  const obey = (command: CallerCommand): void => {
    if (command.kind === "level") {
      isLevelAwaited = true;
      return;
    }
    if (command.kind === "stop") {
      ticking?.cancel();
      offer();
      isStopping = true;
      if (open === 0) tell();
      return;
    }
    const { to, atATime, perSecond } = command;
    const startMs = net.loop.nowMs;
    // By the clock: what a busy machine holds up is made up for.
    offer = () => {
      due = Math.floor(((net.loop.nowMs - startMs) / MS_PER_SECOND) * perSecond);
      while (offered < due && open < atATime) {
        offered += 1;
        open += 1;
        new Call(net, to, ended);
      }
      if (isLevelAwaited && offered === due) {
        isLevelAwaited = false;
        report("level");
      }
    };
    ticking = net.loop.period(TICK_MS, offer);
  };
  return {
    listener: () => ({ onConnection: (fd) => fd.close() }),
    // Tests send nothing else.
    onMessage: (body) => obey(body as CallerCommand),
    drain: () => undefined,
    get openCount() {
      return open;
    },
    close: () => undefined,
  };
});
