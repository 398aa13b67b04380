import type { ProxyProtocol } from "../../core/model/listener.ts";
import type { RequestHint } from "../../core/route/packet.ts";
import type { ListenerConfig } from "../engine-config.ts";
import { type DialTargets, ListTargets } from "../relay/dial-targets.ts";
import { CalledAddress, type UpstreamOf } from "../services/called-address.ts";
import type { CounterRow } from "../stats/counter-row.ts";
import { ForwardedTrust } from "./forwarded-trust.ts";
import type { HttpService } from "./http-service.ts";
import type { ServerPool } from "./server-pool.ts";

export interface ListenerServiceParts {
  readonly config: ListenerConfig;
  readonly row: CounterRow;
  readonly pool: ServerPool;
  readonly upstreamOf: UpstreamOf;
}

/**
 * An HTTP listener as its requests see it: each one by what the listener is when it comes, also on
 * a connection that was open before.
 */
export class ListenerService implements HttpService {
  readonly key: string;
  readonly row: CounterRow;
  readonly pool: ServerPool;
  readonly #upstreamOf: UpstreamOf;
  #config: ListenerConfig;
  #called: CalledAddress;
  #trust: ForwardedTrust;

  constructor({ config, row, pool, upstreamOf }: ListenerServiceParts) {
    this.key = config.key;
    this.row = row;
    this.pool = pool;
    this.#upstreamOf = upstreamOf;
    this.#config = config;
    this.#called = new CalledAddress(config, upstreamOf);
    this.#trust = new ForwardedTrust(config.trustedHops);
  }

  get trust(): ForwardedTrust {
    return this.#trust;
  }

  get greets(): ProxyProtocol["send"] {
    return this.#config.proxyProtocol.send;
  }

  get inBufferBytes(): number {
    return this.#config.inBufferBytes;
  }

  get outBufferBytes(): number {
    return this.#config.outBufferBytes;
  }

  get idleTimeoutMs(): number {
    return this.#config.idleTimeoutMs;
  }

  get connectTimeoutMs(): number {
    return this.#config.connectTimeoutMs;
  }

  /** False where it is another listener, with counters of its own. */
  change(config: ListenerConfig): boolean {
    if (config.key !== this.key) return false;
    this.#config = config;
    this.#called = new CalledAddress(config, this.#upstreamOf);
    this.#trust = new ForwardedTrust(config.trustedHops);
    return true;
  }

  allows(client: string): boolean {
    return this.#called.allows(() => client, "TCP");
  }

  targetsFor(client: string, hint: RequestHint): DialTargets {
    const { fallsBack } = this.#config;
    const upstream = this.#called.upstreamFor(() => client);
    return upstream?.targetsFor({ client, hint, fallsBack }) ?? new ListTargets([]);
  }
}
