import type { StreamFd } from "../../net/fd.ts";
import type { ListenerConfig } from "../engine-config.ts";
import type { UpstreamRuntime } from "../loop/upstream-runtime.ts";
import { NetworkSet } from "../network-set.ts";
import { ProxyHeaderOpening } from "../openings/proxy-header-opening.ts";
import type { SessionHost } from "../relay/session-host.ts";
import type { Entrance } from "../services/entrance.ts";
import type { CounterRow } from "../stats/counter-row.ts";
import type { GreetedClient } from "./greeted-client.ts";
import type { HttpService } from "./http-service.ts";
import { HttpSession } from "./http-session.ts";
import { ListenerRules, ListenerService } from "./listener-service.ts";
import { ServerPool } from "./server-pool.ts";

export interface HttpEntranceParts {
  readonly config: ListenerConfig;
  readonly row: CounterRow;
  readonly upstreamOf: (key: string) => UpstreamRuntime | undefined;
}

/** The entrance of HTTP/1 clients, whose requests are balanced one by one. */
export class HttpEntrance implements Entrance {
  readonly #host: SessionHost;
  readonly #pool: ServerPool;
  readonly #rules: ListenerRules;
  #proxies: NetworkSet;
  #service: ListenerService;

  constructor(host: SessionHost, { config, row, upstreamOf }: HttpEntranceParts) {
    this.#host = host;
    this.#pool = new ServerPool(host.net.loop, () => this.#service.key);
    this.#rules = new ListenerRules(config, upstreamOf);
    this.#proxies = new NetworkSet(config.proxyProtocol.acceptFrom);
    this.#service = this.#createService(config.key, row);
  }

  accept(fd: StreamFd): void {
    const address = fd.remoteAddress();
    const peer = address.family === "unix" ? "" : address.ip;
    const opening = this.#proxies.has(peer) ? new ProxyHeaderOpening() : undefined;
    new HttpSession(this.#host, { service: this.#service, fd, peer, opening }).start();
  }

  get service(): HttpService {
    return this.#service;
  }

  /** Goes on with a client that another entrance has let in. */
  resume({ service, end, peer, proxied, bytes }: GreetedClient): void {
    const greeted = { end, proxied, bytes };
    const parts = { service, fd: end.fd, peer, opening: undefined, greeted };
    new HttpSession(this.#host, parts).start();
  }

  change(config: ListenerConfig, row: CounterRow): boolean {
    if (config.mode !== this.#rules.config.mode || config.tls !== undefined) return false;
    this.#rules.change(config);
    this.#proxies = new NetworkSet(config.proxyProtocol.acceptFrom);
    if (config.key !== this.#service.key) {
      this.#service.leave();
      this.#service = this.#createService(config.key, row);
    }
    return true;
  }

  close(): void {
    this.#service.leave();
    this.#pool.close();
  }

  #createService(key: string, row: CounterRow): ListenerService {
    return new ListenerService({ key, row, pool: this.#pool, rules: this.#rules });
  }
}
