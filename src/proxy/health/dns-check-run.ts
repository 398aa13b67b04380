import type { DatagramFd } from "../../net/fd.ts";
import type { NetEventLoop } from "../../net/net-event-loop.ts";
import type { ChannelId, ReadyHandler } from "../../net/selector-event-loop.ts";
import { Timer } from "../../net/timer-queue.ts";
import { ERRNO, errnoName } from "../../platform/errno.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import type { CheckPlan } from "./check-plan.ts";
import type { CheckRunOptions } from "./check-run.ts";
import { readDnsAnswer, renderDnsQuery } from "./dns-query.ts";
import { type CheckObservation, evaluateCheck } from "./evaluate-check.ts";

const MAX_ID = 65_536;
const WILDCARDS = { v4: "0.0.0.0", v6: "::" } as const;

/** One DNS check of one server, over UDP. */
export class DnsCheckRun implements ReadyHandler {
  readonly #net: NetEventLoop;
  readonly #options: CheckRunOptions;
  readonly #plan: Extract<CheckPlan, { kind: "dns" }>;
  readonly #queryId = Math.floor(Math.random() * MAX_ID);
  readonly #timeout = new Timer(() => this.#observe({ kind: "timed-out" }));
  #fd: DatagramFd | undefined;
  #id: ChannelId | undefined;
  #hasAsked = false;

  constructor(
    net: NetEventLoop,
    plan: Extract<CheckPlan, { kind: "dns" }>,
    options: CheckRunOptions,
  ) {
    this.#net = net;
    this.#plan = plan;
    this.#options = options;
  }

  start(): void {
    const { target } = this.#options;
    const family = target.family === "v6" ? "v6" : "v4";
    const { loop, provider } = this.#net;
    this.#fd = provider.bindDatagram(ipAddress(WILDCARDS[family], 0), { connectTo: target });
    const opened = this.#fd.finishOpen();
    if (opened < 0 && opened !== -ERRNO.EINPROGRESS) {
      this.#observe({ kind: "failed", error: errnoName(opened) });
      return;
    }
    loop.arm(this.#timeout, this.#plan.timeoutMs);
    this.#id = loop.add(this.#fd, this);
    this.#ask();
  }

  cancel(): void {
    const { loop } = this.#net;
    loop.disarm(this.#timeout);
    this.#fd?.close();
    this.#fd = undefined;
    if (this.#id !== undefined) loop.remove(this.#id);
    this.#id = undefined;
  }

  onReady(): void {
    this.#ask();
    const fd = this.#fd;
    if (fd === undefined || !fd.readable) return;
    const count = fd.receive();
    if (count < 0) this.#observe({ kind: "failed", error: errnoName(count) });
    for (let index = 0; index < count; index += 1) {
      const answer = readDnsAnswer(this.#queryId, Buffer.from(fd.datagram(index)));
      if (answer !== undefined) this.#observe({ kind: "dns-answer", ...answer });
    }
  }

  onRemoved(): void {
    this.#id = undefined;
    this.cancel();
  }

  #ask(): void {
    const fd = this.#fd;
    if (this.#hasAsked || fd === undefined || fd.finishOpen() !== 0) return;
    this.#hasAsked = true;
    fd.queue(renderDnsQuery(this.#queryId, this.#plan.name));
    fd.flush();
  }

  #observe(observation: CheckObservation): void {
    const result = this.#fd === undefined ? undefined : evaluateCheck(this.#plan, observation);
    if (result === undefined) return;
    this.cancel();
    this.#options.onResult(result);
  }
}
