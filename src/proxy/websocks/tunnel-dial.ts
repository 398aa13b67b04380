import { Timer } from "../../net/timer-queue.ts";
import { ERRNO, errnoName } from "../../platform/errno.ts";
import type { Socks5Address, Socks5ReplyWord } from "../../wire/socks5/socks5-words.ts";
import type { ClientStep } from "../../wire/websocks/client-step.ts";
import { TargetClient } from "../../wire/websocks/target-client.ts";
import { type DialHandler, type Dialing, MAX_ATTEMPTS, OWN_FAULTS } from "../relay/dial.ts";
import type { DialTarget, DialTargets } from "../relay/dial-targets.ts";
import type { RelayEnd } from "../relay/relay-end.ts";
import { Conversation } from "./conversation.ts";
import { TunnelLink } from "./tunnel-link.ts";
import type { TunnelServer } from "./tunnel-server.ts";
import type { Tunnels } from "./tunnels.ts";

/** A server may try several addresses of a target, and has to find them. */
const ANSWER_TIMEOUT_MS = 30_000;

/** What a server's word for a failure is here. */
const RESULTS: Readonly<Partial<Record<Socks5ReplyWord, number>>> = {
  "not-allowed": -ERRNO.EACCES,
  "network-unreachable": -ERRNO.ENETUNREACH,
  "host-unreachable": -ERRNO.EHOSTUNREACH,
  "connection-refused": -ERRNO.ECONNREFUSED,
  "command-not-supported": -ERRNO.EOPNOTSUPP,
  "address-not-supported": -ERRNO.EAFNOSUPPORT,
};

interface Attempt {
  readonly target: DialTarget;
  readonly server: TunnelServer;
  readonly beganMs: number;
}

/** Connects to a target through the first server that lets it. */
export class TunnelDial implements Dialing {
  readonly #tunnels: Tunnels;
  readonly #targets: DialTargets;
  readonly #wanted: Socks5Address;
  readonly #handler: DialHandler;
  readonly #timer = new Timer(() => this.#failed(-ERRNO.ETIMEDOUT));
  #attempts = 0;
  #attempt: Attempt | undefined;
  #link: TunnelLink | undefined;
  #end: RelayEnd | undefined;
  #lastResult: number;

  /** @param targets the servers of tunnels */
  constructor(tunnels: Tunnels, targets: DialTargets, wanted: Socks5Address, handler: DialHandler) {
    this.#tunnels = tunnels;
    this.#targets = targets;
    this.#wanted = wanted;
    this.#handler = handler;
    this.#lastResult = -ERRNO.ENETUNREACH;
  }

  start(): void {
    const mayTry = this.#attempts < MAX_ATTEMPTS && !this.#tunnels.isClosed;
    const target = mayTry ? this.#targets.next() : undefined;
    if (target === undefined) {
      this.#handler.dialFailed(this.#lastResult);
      return;
    }
    this.#attempts += 1;
    const server = this.#tunnels.serverOf(target);
    if (server === undefined) {
      this.#tunnels.noteFailure(target, "there is no URL for it");
      this.start();
      return;
    }
    const beganMs = this.#tunnels.host.net.loop.nowMs;
    this.#attempt = { target, server, beganMs };
    const kept = this.#tunnels.poolOf(target, server)?.take();
    if (kept === undefined) this.#connect(this.#attempt);
    else this.#ask(kept, true);
  }

  cancel(): void {
    const { loop } = this.#tunnels.host.net;
    loop.disarm(this.#timer);
    this.#link?.cancel();
    this.#link = undefined;
    this.#end?.leave(loop, false);
    this.#end = undefined;
    this.#attempt?.target.closed();
    this.#attempt = undefined;
  }

  #connect({ target, server }: Attempt): void {
    const { host, options } = this.#tunnels;
    target.opened();
    this.#link = new TunnelLink(host.net, {
      target,
      server,
      timeoutMs: options.linkTimeoutMs,
      bufferBytes: options.bufferBytes,
      listener: options.listener,
      linked: (end) => {
        this.#link = undefined;
        this.#ask(end, false);
      },
      failed: (result, reason) => this.#failed(result, reason),
    });
    this.#link.start();
  }

  #ask(end: RelayEnd, wasKept: boolean): void {
    const { net } = this.#tunnels.host;
    this.#end = end;
    net.loop.arm(this.#timer, ANSWER_TIMEOUT_MS);
    new Conversation(net, {
      end,
      talk: new TargetClient(this.#wanted),
      role: { listener: this.#handler.listener, server: this.#attempt?.target.key ?? "" },
      ended: (step) => this.#answered(end, step),
      failed: (result) => {
        // What was kept may have gone meanwhile: that says nothing about the server.
        if (wasKept && this.#attempt !== undefined) this.#again(this.#attempt);
        else this.#failed(result);
      },
    }).start();
  }

  #again(attempt: Attempt): void {
    this.cancel();
    if (this.#tunnels.isClosed) {
      this.#handler.dialFailed(this.#lastResult);
      return;
    }
    this.#attempt = attempt;
    this.#connect(attempt);
  }

  #answered(end: RelayEnd, step: Exclude<ClientStep, { kind: "more" }>): void {
    switch (step.kind) {
      case "failed":
        this.#failed(-ERRNO.EPROTO, step.reason);
        return;
      case "refused":
        this.#attempt?.target.connected();
        this.cancel();
        this.#handler.dialFailed(RESULTS[step.word] ?? -ERRNO.EPROTO);
        return;
      case "done":
        this.#done(end, step.rest);
        return;
    }
  }

  #done(end: RelayEnd, rest: Buffer): void {
    const { net } = this.#tunnels.host;
    const attempt = this.#attempt;
    if (attempt === undefined) return;
    net.loop.disarm(this.#timer);
    this.#end = undefined;
    this.#attempt = undefined;
    if (rest.length > 0) end.putFirst(rest, net.provider.allocate(rest.length));
    const { target, beganMs } = attempt;
    target.connected();
    this.#handler.dialed(end, target, net.loop.nowMs - beganMs);
  }

  #failed(result: number, reason: string = errnoName(result)): void {
    const target = this.#attempt?.target;
    this.cancel();
    if (target === undefined) return;
    if (OWN_FAULTS.has(result)) {
      this.#handler.dialFailed(result);
      return;
    }
    this.#tunnels.noteFailure(target, reason);
    target.failed(result);
    // What is wrong is between here and the servers, whatever it is: none of them is to be had.
    this.#lastResult = -ERRNO.ENETUNREACH;
    if (this.#tunnels.host.net.loop.isClosed) this.#handler.dialFailed(result);
    else this.start();
  }
}
