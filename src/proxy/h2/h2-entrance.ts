import type { StreamFd } from "../../net/fd.ts";
import type { ListenerConfig } from "../engine-config.ts";
import type { GreetedClient } from "../http/greeted-client.ts";
import { HttpEntrance, type HttpEntranceParts } from "../http/http-entrance.ts";
import { ServerPool } from "../http/server-pool.ts";
import { NetworkSet } from "../network-set.ts";
import { ProxyHeaderOpening } from "../openings/proxy-header-opening.ts";
import type { SessionHost } from "../relay/session-host.ts";
import type { Entrance } from "../services/entrance.ts";
import { proxyGreeting } from "../services/proxy-greeting.ts";
import type { CounterRow } from "../stats/counter-row.ts";
import { isSecured } from "../tls/secured.ts";
import { FirstBytes } from "./first-bytes.ts";
import { H2Memory } from "./h2-memory.ts";
import type { H2Service } from "./h2-service.ts";
import { H2Session } from "./h2-session.ts";
import { type Http1Servers, ServerLinks } from "./server-links.ts";

/** The entrance of HTTP/2 clients; those that speak HTTP/1.1 are served as such. */
export class H2Entrance implements Entrance {
  readonly #host: SessionHost;
  readonly #memory: H2Memory;
  readonly #http1Servers: Http1Servers = new WeakMap();
  readonly #links: ServerLinks;
  readonly #sessions = new Set<H2Session>();
  readonly #http1: HttpEntrance;
  #proxies: NetworkSet;

  constructor(host: SessionHost, parts: HttpEntranceParts) {
    this.#host = host;
    this.#memory = new H2Memory(host.net);
    this.#links = new ServerLinks(host.net, {
      memory: this.#memory,
      listener: () => this.#http1.service.key,
      http1Servers: this.#http1Servers,
    });
    this.#http1 = new HttpEntrance(host, parts);
    this.#proxies = new NetworkSet(parts.config.proxyProtocol.acceptFrom);
  }

  accept(fd: StreamFd): void {
    const address = fd.remoteAddress();
    const peer = address.family === "unix" ? "" : address.ip;
    new FirstBytes(this.#host, {
      service: this.#http1.service,
      fd,
      peer,
      opening: this.#proxies.has(peer) ? new ProxyHeaderOpening() : undefined,
      http1: (client) => this.#http1.resume(client),
      http2: (client) => this.#begin(client),
    }).start();
  }

  /** Connections live long here: they are asked to leave, so that the change reaches all. */
  change(config: ListenerConfig, row: CounterRow): boolean {
    if (!this.#http1.change(config, row)) return false;
    this.#proxies = new NetworkSet(config.proxyProtocol.acceptFrom);
    this.#drainSessions();
    return true;
  }

  /** What is under way is finished; then the clients are asked to leave. */
  close(): void {
    this.#drainSessions();
    this.#links.close();
    this.#http1.close();
  }

  #begin(client: GreetedClient): void {
    const { end, peer, bytes } = client;
    const service = this.#serviceFor(client);
    const session = new H2Session(this.#host, {
      service,
      client: end,
      peer,
      scheme: isSecured(end.fd) ? "https" : "http",
      onClosed: (closed) => {
        this.#sessions.delete(closed);
        service.close();
      },
    });
    this.#sessions.add(session);
    session.start(bytes);
  }

  /** Connections whose servers were told who calls are for nobody else, and end with the client. */
  #serviceFor({ service: http, end, proxied }: GreetedClient): H2Service & { close(): void } {
    const { net } = this.#host;
    const memory = this.#memory;
    const greeting = proxyGreeting(http.greets, end.fd, proxied);
    if (greeting.length === 0) {
      return {
        http,
        pool: http.pool,
        links: this.#links,
        memory,
        greeting,
        close: () => undefined,
      };
    }
    const listener = (): string => http.key;
    const pool = new ServerPool(net.loop, listener);
    const http1Servers = this.#http1Servers;
    const links = new ServerLinks(net, { memory, listener, greeting, http1Servers });
    const close = (): void => {
      pool.close();
      links.close();
    };
    return { http, pool, links, memory, greeting, close };
  }

  #drainSessions(): void {
    for (const session of [...this.#sessions]) session.drain();
  }
}
