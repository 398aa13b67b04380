import type { StreamFd } from "../../net/fd.ts";
import type { NetEventLoop } from "../../net/net-event-loop.ts";
import type { ChannelId, ReadyHandler } from "../../net/selector-event-loop.ts";
import { Timer } from "../../net/timer-queue.ts";
import { ERRNO, errnoName } from "../../platform/errno.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import type { ClientStep } from "../../wire/websocks/client-step.ts";
import type { CheckPlan } from "./check-plan.ts";
import { type CheckObservation, type CheckResult, evaluateCheck } from "./evaluate-check.ts";
import { HttpCheckReader } from "./http-check-reader.ts";

export interface CheckRunOptions {
  readonly target: SocketAddress;
  /** The connection as it is spoken on: perhaps within TLS. */
  readonly secured?: (fd: StreamFd) => StreamFd;
  /** Called once, unless it is cancelled; perhaps before `start` returns. */
  readonly onResult: (result: CheckResult) => void;
}

/** What is checked over a stream. */
type StreamPlan = Exclude<CheckPlan, { kind: "dns" | "none" }>;

const READ_BYTES = 16_384;

/** One check of one server: connects, says and hears what the plan wants, and judges. */
export class CheckRun implements ReadyHandler {
  readonly #net: NetEventLoop;
  readonly #plan: StreamPlan;
  readonly #options: CheckRunOptions;
  readonly #timeout = new Timer(() => this.#observe({ kind: "timed-out" }));
  readonly #hold = new Timer(() => this.#observe({ kind: "held" }));
  readonly #reader = new HttpCheckReader();
  #fd: StreamFd | undefined;
  #id: ChannelId | undefined;
  #isConnected = false;

  constructor(net: NetEventLoop, plan: StreamPlan, options: CheckRunOptions) {
    this.#net = net;
    this.#plan = plan;
    this.#options = options;
  }

  start(): void {
    const { loop, provider } = this.#net;
    const { target, secured } = this.#options;
    const raw = provider.connect(target);
    const fd = secured?.(raw) ?? raw;
    this.#fd = fd;
    const opened = fd.finishOpen();
    if (opened < 0 && opened !== -ERRNO.EINPROGRESS) {
      this.#observe({ kind: "failed", error: errnoName(opened) });
      return;
    }
    loop.arm(this.#timeout, this.#plan.timeoutMs);
    this.#id = loop.add(fd, this);
  }

  cancel(): void {
    const { loop } = this.#net;
    loop.disarm(this.#timeout);
    loop.disarm(this.#hold);
    // Without a reset: servers would log every check as an error, or worse.
    this.#fd?.close();
    this.#fd = undefined;
    if (this.#id !== undefined) loop.remove(this.#id);
    this.#id = undefined;
  }

  onReady(): void {
    if (!this.#isConnected && !this.#finishConnect()) return;
    while (this.#fd?.readable) {
      const { scratch } = this.#net;
      const count = this.#fd.read(scratch, 0, READ_BYTES);
      if (count === -ERRNO.EAGAIN) return;
      if (count < 0) this.#observe({ kind: "failed", error: errnoName(count) });
      else if (count === 0) this.#observe({ kind: "closed" });
      else this.#heard(Buffer.from(scratch.bytes.subarray(0, count)));
    }
  }

  onRemoved(): void {
    this.#id = undefined;
    this.cancel();
  }

  #finishConnect(): boolean {
    const result = this.#fd?.finishOpen() ?? -ERRNO.EINPROGRESS;
    if (result === -ERRNO.EINPROGRESS) return false;
    if (result < 0) {
      this.#observe({ kind: "failed", error: this.#reasonOf(result) });
      return false;
    }
    this.#isConnected = true;
    const plan = this.#plan;
    if (plan.kind === "talk") this.#say(plan.talk.first);
    if (plan.kind === "http") this.#say(plan.request);
    if (plan.kind === "tcpDelay") this.#net.loop.arm(this.#hold, plan.holdMs);
    this.#observe({ kind: "connected" });
    return this.#fd !== undefined;
  }

  /** TLS tells more than the number does. */
  #reasonOf(result: number): string {
    const problem = this.#fd !== undefined && "problem" in this.#fd ? String(this.#fd.problem) : "";
    return problem === "" ? errnoName(result) : problem;
  }

  /** A request always fits into a fresh connection. */
  #say(bytes: Buffer): void {
    const { scratch } = this.#net;
    scratch.bytes.set(bytes);
    this.#fd?.write(scratch, 0, bytes.length);
  }

  #heard(bytes: Buffer): void {
    if (this.#plan.kind === "talk") {
      this.#talk(this.#plan.talk.feed(bytes));
      return;
    }
    if (this.#plan.kind !== "http") {
      this.#observe({ kind: "bytes" });
      return;
    }
    for (const observation of this.#reader.feed(bytes)) this.#observe(observation);
  }

  #talk(step: ClientStep): void {
    switch (step.kind) {
      case "more":
        if (step.say !== undefined) this.#say(step.say);
        return;
      case "done":
        this.#observe({ kind: "talked" });
        return;
      case "refused":
        this.#observe({ kind: "misunderstood", reason: step.word });
        return;
      case "failed":
        this.#observe({ kind: "misunderstood", reason: step.reason });
        return;
    }
  }

  #observe(observation: CheckObservation): void {
    const result = this.#fd === undefined ? undefined : evaluateCheck(this.#plan, observation);
    if (result === undefined) return;
    this.cancel();
    this.#options.onResult(result);
  }
}
