import type { ProxyProtocol } from "../../core/model/listener.ts";
import type { RequestHint } from "../../core/route/packet.ts";
import type { ListenerConfig } from "../engine-config.ts";
import { type DialTargets, ListTargets } from "../relay/dial-targets.ts";
import { CalledAddress, type UpstreamOf } from "../services/called-address.ts";
import type { CounterRow } from "../stats/counter-row.ts";
import { ForwardedTrust } from "./forwarded-trust.ts";
import type { HttpService } from "./http-service.ts";
import type { ServerPool } from "./server-pool.ts";

/** What a listener is now. Clients that came in by one whose place it took go by it, too. */
export class ListenerRules {
  readonly #upstreamOf: UpstreamOf;
  config: ListenerConfig;
  called: CalledAddress;
  trust: ForwardedTrust;

  constructor(config: ListenerConfig, upstreamOf: UpstreamOf) {
    this.#upstreamOf = upstreamOf;
    this.config = config;
    this.called = new CalledAddress(config, upstreamOf);
    this.trust = new ForwardedTrust(config.trustedHops);
  }

  change(config: ListenerConfig): void {
    this.config = config;
    this.called = new CalledAddress(config, this.#upstreamOf);
    this.trust = new ForwardedTrust(config.trustedHops);
  }
}

export interface ListenerServiceParts {
  readonly key: string;
  readonly row: CounterRow;
  readonly pool: ServerPool;
  readonly rules: ListenerRules;
}

/**
 * An HTTP listener as its requests see it: each one by what the listener is when it comes, also on
 * a connection that was open before.
 */
export class ListenerService implements HttpService {
  readonly key: string;
  readonly row: CounterRow;
  readonly pool: ServerPool;
  readonly #rules: ListenerRules;
  #isLeft = false;

  constructor({ key, row, pool, rules }: ListenerServiceParts) {
    this.key = key;
    this.row = row;
    this.pool = pool;
    this.#rules = rules;
  }

  get isLeft(): boolean {
    return this.#isLeft;
  }

  /** Nobody comes in by it any more. */
  leave(): void {
    this.#isLeft = true;
  }

  get trust(): ForwardedTrust {
    return this.#rules.trust;
  }

  get greets(): ProxyProtocol["send"] {
    return this.#rules.config.proxyProtocol.send;
  }

  get readsHints(): boolean {
    return this.#rules.called.readsHints;
  }

  get inBufferBytes(): number {
    return this.#rules.config.inBufferBytes;
  }

  get outBufferBytes(): number {
    return this.#rules.config.outBufferBytes;
  }

  get idleTimeoutMs(): number {
    return this.#rules.config.idleTimeoutMs;
  }

  get connectTimeoutMs(): number {
    return this.#rules.config.connectTimeoutMs;
  }

  allows(client: string): boolean {
    return this.#rules.called.allows(() => client, "TCP");
  }

  targetsFor(client: string, hint: RequestHint): DialTargets {
    const { called, config } = this.#rules;
    const { fallsBack } = config;
    const upstream = called.upstreamFor(() => client);
    return upstream?.targetsFor({ client, hint, fallsBack }) ?? new ListTargets([]);
  }
}
