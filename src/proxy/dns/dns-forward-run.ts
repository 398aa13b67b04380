import { Timer } from "../../net/timer-queue.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import type { DnsQuery } from "../../wire/dns/dns-query.ts";
import type { DnsResponse } from "../../wire/dns/dns-response.ts";
import { RCODES } from "../../wire/dns/dns-words.ts";
import type { OpenSession, SessionHost } from "../relay/session-host.ts";
import type { AttemptParts, ResolverAttempt } from "./resolver-attempt.ts";
import { TcpAttempt } from "./tcp-attempt.ts";
import { UdpAttempt } from "./udp-attempt.ts";

export interface ForwardRunParts {
  readonly query: DnsQuery;
  /** Asked in this order, until one answers. */
  readonly resolvers: readonly SocketAddress[];
  /** Told once: the answer, or that nobody gave one. */
  readonly onDone: (response: DnsResponse | undefined) => void;
}

/** How long one resolver may take. */
const ATTEMPT_MS = 2000;
/** All resolvers are asked so often. */
const ROUNDS = 2;

/** One question to resolvers, one after the other. An answer that is cut short is asked for over TCP. */
export class DnsForwardRun implements OpenSession {
  readonly #host: SessionHost;
  readonly #parts: ForwardRunParts;
  readonly #timer = new Timer(() => this.#next());
  #turn = 0;
  #attempt: ResolverAttempt | undefined;
  /** What one that could not answer said: told where no other can. */
  #refusal: DnsResponse | undefined;
  #isOver = false;

  constructor(host: SessionHost, parts: ForwardRunParts) {
    this.#host = host;
    this.#parts = parts;
    host.sessions.add(this);
  }

  start(): void {
    this.#next();
  }

  /** Its client waits for it: it goes on. */
  drain(): void {}

  abort(): void {
    this.#end(undefined);
  }

  #next(): void {
    const { resolvers } = this.#parts;
    const resolver = resolvers[this.#turn % Math.max(1, resolvers.length)];
    if (resolver === undefined || this.#turn >= resolvers.length * ROUNDS) {
      this.#end(this.#refusal);
      return;
    }
    this.#turn += 1;
    this.#try(
      (parts) => new UdpAttempt(this.#host.net, parts),
      resolver,
      (response) => {
        if (response.isTruncated) this.#askOverTcp(resolver);
        else this.#heard(response);
      },
    );
  }

  #askOverTcp(resolver: SocketAddress): void {
    this.#try(
      (parts) => new TcpAttempt(this.#host.net, parts),
      resolver,
      (response) => this.#heard(response),
    );
  }

  #try(
    create: (parts: AttemptParts) => ResolverAttempt,
    resolver: SocketAddress,
    onResponse: (response: DnsResponse) => void,
  ): void {
    if (this.#isOver) return;
    this.#attempt?.close();
    const { loop } = this.#host.net;
    loop.arm(this.#timer, ATTEMPT_MS);
    const { query } = this.#parts;
    // Not at once: it may fail before it has begun, and the next one too.
    const onFailed = (): void => {
      if (!this.#isOver) loop.arm(this.#timer, 0);
    };
    this.#attempt = create({ query, resolver, onResponse, onFailed });
    this.#attempt.start();
  }

  #heard(response: DnsResponse): void {
    const { rcode } = response;
    if (rcode !== RCODES.SERVFAIL && rcode !== RCODES.REFUSED) {
      this.#end(response);
      return;
    }
    this.#refusal ??= response;
    this.#next();
  }

  #end(response: DnsResponse | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#host.net.loop.disarm(this.#timer);
    this.#attempt?.close();
    this.#host.sessions.delete(this);
    this.#parts.onDone(response);
  }
}
