import type { HealthCheck } from "../../core/model/group.ts";
import type { StreamFd } from "../../net/fd.ts";
import type { NetEventLoop } from "../../net/net-event-loop.ts";
import { Timer } from "../../net/timer-queue.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import { type Server, serverKey } from "../balance/server.ts";
import type { ServerId } from "../loop/engine-messages.ts";
import type { ServerWatcher } from "../loop/group-runtime.ts";
import { planCheck } from "./check-plan.ts";
import { CheckRun } from "./check-run.ts";
import { DnsCheckRun } from "./dns-check-run.ts";
import type { CheckResult } from "./evaluate-check.ts";
import { type HealthEdge, HealthState } from "./health-state.ts";
import type { ServerTalk } from "./server-talk.ts";

/** A group as its checks see it. */
export interface CheckedGroup {
  readonly healthCheck: HealthCheck;
  idOf(server: Server): ServerId;
  /** Where connections to a server go. */
  addressOf(server: Pick<Server, "address" | "port">): SocketAddress;
  /** A connection as it is spoken on: within TLS. Missing: as it is. */
  secured?(fd: StreamFd, server: string): StreamFd;
  /** A check of one of its servers has ended. */
  checked(id: ServerId, ok: boolean): void;
}

/** How a server is spoken to, where it is not enough that it takes connections. */
export type TalkTo = (id: ServerId) => ServerTalk | undefined;

/** Descriptors or memory of this process are used up: that says nothing about a server, and is so for all of them. */
const OWN_FAULTS: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "ENOBUFS", "ENOMEM"]);

export type OnEdge = (id: ServerId, edge: HealthEdge, reason: string) => void;

/** Checks every server of every group, on one loop for all. */
export class HealthChecker implements ServerWatcher {
  readonly #net: NetEventLoop;
  readonly #onEdge: OnEdge;
  readonly #talkTo: TalkTo;
  readonly #watched = new Map<string, WatchedServer>();

  constructor(net: NetEventLoop, onEdge: OnEdge, talkTo: TalkTo = () => undefined) {
    this.#net = net;
    this.#onEdge = onEdge;
    this.#talkTo = talkTo;
  }

  added(group: CheckedGroup, server: Server): void {
    const id = group.idOf(server);
    const options = { group, id, onEdge: this.#onEdge, talkTo: this.#talkTo };
    const watched = new WatchedServer(this.#net, options);
    this.#watched.get(keyOf(id))?.close();
    this.#watched.set(keyOf(id), watched);
    // Who knows how to speak to it may come with the same change.
    this.#net.loop.nextTick(() => {
      if (this.#watched.get(keyOf(id)) === watched) watched.start();
    });
  }

  removed(group: CheckedGroup, server: Server): void {
    const key = keyOf(group.idOf(server));
    this.#watched.get(key)?.close();
    this.#watched.delete(key);
  }

  /** A connection of a client failed, with why; or, after such, one succeeded. */
  experienced(id: ServerId, failure: string | undefined): void {
    this.#watched.get(keyOf(id))?.experienced(failure);
  }

  close(): void {
    for (const watched of this.#watched.values()) watched.close();
    this.#watched.clear();
  }
}

function keyOf({ group, member, address, port }: ServerId): string {
  return `${group}\n${member}\n${serverKey(address, port)}`;
}

interface WatchedOptions {
  readonly group: CheckedGroup;
  readonly id: ServerId;
  readonly onEdge: OnEdge;
  readonly talkTo: TalkTo;
}

/** One server: the check that runs, or the time until the next one. */
class WatchedServer {
  readonly #net: NetEventLoop;
  readonly #group: CheckedGroup;
  readonly #id: ServerId;
  readonly #onEdge: OnEdge;
  readonly #talkTo: TalkTo;
  readonly #state: HealthState;
  readonly #next = new Timer(() => this.start());
  #run: CheckRun | DnsCheckRun | undefined;
  #lastTold: HealthEdge | undefined;

  constructor(net: NetEventLoop, { group, id, onEdge, talkTo }: WatchedOptions) {
    this.#net = net;
    this.#group = group;
    this.#id = id;
    this.#onEdge = onEdge;
    this.#talkTo = talkTo;
    this.#state = new HealthState(group.healthCheck);
  }

  /** Checks now. The group's check may be another one by now. */
  start(): void {
    const { healthCheck } = this.#group;
    this.#told(this.#state.setCheck(healthCheck));
    const plan = planCheck(healthCheck, this.#id);
    if (plan.kind === "none") {
      this.#net.loop.arm(this.#next, this.#state.nextCheckInMs);
      return;
    }
    // It was up without a check until now: nobody has been told.
    if (this.#lastTold === undefined && this.#state.health === "up") this.#told("up");
    const target = this.#group.addressOf(this.#id);
    const spoken = plan.kind === "tcp" ? this.#talkTo(this.#id) : undefined;
    const secured = (fd: StreamFd) =>
      spoken?.secure(fd) ?? this.#group.secured?.(fd, this.#id.member) ?? fd;
    const options = { target, secured, onResult: (result: CheckResult) => this.#finished(result) };
    if (plan.kind === "dns") this.#run = new DnsCheckRun(this.#net, plan, options);
    else if (spoken === undefined) this.#run = new CheckRun(this.#net, plan, options);
    else {
      const { timeoutMs } = plan;
      this.#run = new CheckRun(this.#net, { kind: "talk", timeoutMs, talk: spoken.talk }, options);
    }
    this.#run.start();
  }

  experienced(failure: string | undefined): void {
    if (failure === undefined) this.#state.connectionSucceeded();
    else this.#told(this.#state.connectionFailed(failure));
  }

  close(): void {
    this.#run?.cancel();
    this.#net.loop.disarm(this.#next);
  }

  #finished({ ok, reason }: CheckResult): void {
    this.#run = undefined;
    if (ok || !OWN_FAULTS.has(reason)) {
      this.#group.checked(this.#id, ok);
      this.#told(ok ? this.#state.checkSucceeded() : this.#state.checkFailed(reason));
    }
    this.#net.loop.arm(this.#next, this.#state.nextCheckInMs);
  }

  #told(edge: HealthEdge | undefined): void {
    if (edge === undefined) return;
    this.#lastTold = edge;
    this.#onEdge(this.#id, edge, this.#state.reason);
  }
}
