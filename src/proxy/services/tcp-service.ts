import type { RequestHint } from "../../core/route/packet.ts";
import type { StreamFd } from "../../net/fd.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import type { ListenerConfig } from "../engine-config.ts";
import type { UpstreamRuntime } from "../loop/upstream-runtime.ts";
import { NetworkSet } from "../network-set.ts";
import { HintOpening } from "../openings/hint-opening.ts";
import type { Introduction, Opening } from "../openings/opening.ts";
import { ProxyHeaderOpening } from "../openings/proxy-header-opening.ts";
import { type DialTargets, ListTargets } from "../relay/dial-targets.ts";
import type { StreamService } from "../relay/stream-service.ts";
import type { CounterRow } from "../stats/counter-row.ts";
import { isSecured } from "../tls/secured.ts";
import type { UpstreamOf } from "./called-address.ts";
import { CalledAddresses } from "./called-addresses.ts";
import { proxyGreeting } from "./proxy-greeting.ts";

const NO_BYTES = Buffer.alloc(0);

export interface ServiceParts {
  readonly config: ListenerConfig;
  readonly row: CounterRow;
  /** Where it gives none nobody can be served. */
  readonly upstreamOf: UpstreamOf;
}

/** TCP as it is: bytes pass untouched, to a server that their beginning may help to choose. */
export class TcpService implements StreamService {
  readonly key: string;
  readonly row: CounterRow;
  readonly inBufferBytes: number;
  readonly outBufferBytes: number;
  readonly idleTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly #config: ListenerConfig;
  readonly #called: CalledAddresses;
  readonly #proxies: NetworkSet | undefined;

  constructor({ config, row, upstreamOf }: ServiceParts) {
    this.key = config.key;
    this.row = row;
    this.#config = config;
    this.inBufferBytes = config.inBufferBytes;
    this.outBufferBytes = config.outBufferBytes;
    this.idleTimeoutMs = config.idleTimeoutMs;
    this.connectTimeoutMs = config.connectTimeoutMs;
    this.#called = new CalledAddresses(config, upstreamOf);
    const { acceptFrom } = config.proxyProtocol;
    this.#proxies = acceptFrom.length === 0 ? undefined : new NetworkSet(acceptFrom);
  }

  openingsFor(client: StreamFd): Opening[] {
    const openings = this.peerOpenings(client);
    // Who has named a host for TLS may wait for the server to speak.
    const isKnown = isSecured(client) && client.serverName !== "";
    const readsHints = this.#called.of(client)?.upstream?.readsHints === true;
    if (readsHints && !isKnown) openings.push(new HintOpening());
    return openings;
  }

  allows(client: StreamFd, introduction: Introduction): boolean {
    const called = this.#called.of(client);
    return called?.allows(() => clientIp(client, introduction), "TCP") ?? false;
  }

  findTargets(
    client: StreamFd,
    introduction: Introduction,
    found: (targets: DialTargets) => void,
  ): void {
    const upstream = this.#called.of(client)?.upstreamFor(() => clientIp(client, introduction));
    if (upstream === undefined) {
      found(new ListTargets([]));
      return;
    }
    const hint = introduction.hint ?? nameHint(client);
    const from = this.clientFor(upstream, client, introduction);
    found(upstream.targetsFor({ hint, client: from, fallsBack: this.#config.fallsBack }));
  }

  greetServer(client: StreamFd, { proxied }: Introduction): Buffer {
    return proxyGreeting(this.#config.proxyProtocol.send, client, proxied);
  }

  answerConnected(_server: StreamFd, _introduction: Introduction): Buffer {
    return NO_BYTES;
  }

  answerFailed(_result: number, _introduction: Introduction): Buffer {
    return NO_BYTES;
  }

  protected get upstream(): UpstreamRuntime | undefined {
    return this.#called.own.upstream;
  }

  /** What the peer has to say about itself. */
  protected peerOpenings(client: StreamFd): Opening[] {
    if (this.#proxies === undefined) return [];
    return this.#proxies.has(ipOf(client.remoteAddress())) ? [new ProxyHeaderOpening()] : [];
  }

  /** Its text costs: made only where it makes a difference. */
  protected clientFor(
    upstream: UpstreamRuntime,
    client: StreamFd,
    introduction: Introduction,
  ): string {
    return upstream.readsClient ? clientIp(client, introduction) : "";
  }
}

/** The host that a client asked for in its TLS handshake. */
function nameHint(client: StreamFd): RequestHint | undefined {
  return isSecured(client) && client.serverName !== "" ? { host: client.serverName } : undefined;
}

/** Canonical address of a client; empty for one on a unix socket. */
export function clientIp(client: StreamFd, { proxied }: Introduction): string {
  return proxied?.source.ip ?? ipOf(client.remoteAddress());
}

/** Empty for unix sockets. */
function ipOf(address: SocketAddress): string {
  return address.family === "unix" ? "" : address.ip;
}
