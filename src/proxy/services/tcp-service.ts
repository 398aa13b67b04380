import type { StreamFd } from "../../net/fd.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import type { ProxiedConnection } from "../../wire/proxy-protocol/proxy-header.ts";
import { renderProxyV1 } from "../../wire/proxy-protocol/proxy-v1.ts";
import { renderProxyV2 } from "../../wire/proxy-protocol/proxy-v2.ts";
import type { ListenerConfig } from "../engine-config.ts";
import type { UpstreamRuntime } from "../loop/upstream-runtime.ts";
import { NetworkSet } from "../network-set.ts";
import { HintOpening } from "../openings/hint-opening.ts";
import type { Introduction, Opening } from "../openings/opening.ts";
import { ProxyHeaderOpening } from "../openings/proxy-header-opening.ts";
import { type DialTargets, ListTargets } from "../relay/dial-targets.ts";
import type { StreamService } from "../relay/stream-service.ts";
import { SecurityGroup } from "../security-group.ts";
import type { CounterRow } from "../stats/counter-row.ts";

const NO_BYTES = Buffer.alloc(0);

export interface ServiceParts {
  readonly config: ListenerConfig;
  readonly row: CounterRow;
  /** Undefined where there is none of that key now: nobody can be served then. */
  readonly upstream: () => UpstreamRuntime | undefined;
}

/** TCP as it is: bytes pass untouched, to a server that their beginning may help to choose. */
export class TcpService implements StreamService {
  readonly key: string;
  readonly row: CounterRow;
  readonly inBufferBytes: number;
  readonly outBufferBytes: number;
  readonly idleTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly #upstream: () => UpstreamRuntime | undefined;
  readonly #config: ListenerConfig;
  readonly #access: SecurityGroup | undefined;
  readonly #proxies: NetworkSet | undefined;

  constructor({ config, row, upstream }: ServiceParts) {
    this.key = config.key;
    this.row = row;
    this.#upstream = upstream;
    this.#config = config;
    this.inBufferBytes = config.inBufferBytes;
    this.outBufferBytes = config.outBufferBytes;
    this.idleTimeoutMs = config.idleTimeoutMs;
    this.connectTimeoutMs = config.connectTimeoutMs;
    this.#access = config.access && new SecurityGroup(config.access);
    const { acceptFrom } = config.proxyProtocol;
    this.#proxies = acceptFrom.length === 0 ? undefined : new NetworkSet(acceptFrom);
  }

  openingsFor(client: StreamFd): Opening[] {
    const openings = this.peerOpenings(client);
    if (this.upstream?.readsHints) openings.push(new HintOpening());
    return openings;
  }

  allows(client: StreamFd, introduction: Introduction): boolean {
    if (this.#access === undefined) return true;
    const { address } = this.#config;
    const port = address.family === "unix" ? 0 : address.port;
    return this.#access.allows(clientIp(client, introduction), "TCP", port);
  }

  findTargets(
    client: StreamFd,
    introduction: Introduction,
    found: (targets: DialTargets) => void,
  ): void {
    const { upstream } = this;
    if (upstream === undefined) {
      found(new ListTargets([]));
      return;
    }
    const { hint } = introduction;
    found(upstream.targetsFor({ hint, client: this.clientFor(upstream, client, introduction) }));
  }

  greetServer(client: StreamFd, introduction: Introduction): Buffer {
    switch (this.#config.proxyProtocol.send) {
      case "none":
        return NO_BYTES;
      case "v1":
        return renderProxyV1(connectionOf(client, introduction));
      case "v2":
        return renderProxyV2(connectionOf(client, introduction));
    }
  }

  answerConnected(_server: StreamFd, _introduction: Introduction): Buffer {
    return NO_BYTES;
  }

  answerFailed(_result: number, _introduction: Introduction): Buffer {
    return NO_BYTES;
  }

  protected get upstream(): UpstreamRuntime | undefined {
    return this.#upstream();
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

function clientIp(client: StreamFd, { proxied }: Introduction): string {
  return proxied?.source.ip ?? ipOf(client.remoteAddress());
}

/** Empty for unix sockets. */
function ipOf(address: SocketAddress): string {
  return address.family === "unix" ? "" : address.ip;
}

/** Undefined where the ends have no IP addresses: the server is told that nothing is known. */
function connectionOf(client: StreamFd, { proxied }: Introduction): ProxiedConnection | undefined {
  if (proxied !== undefined) return proxied;
  const [source, destination] = addressesOf(client);
  if (source.family === "unix" || destination.family === "unix") return undefined;
  return {
    transport: "TCP",
    source: { ip: source.ip, port: source.port },
    destination: { ip: destination.ip, port: destination.port },
  };
}

function addressesOf(client: StreamFd): readonly [SocketAddress, SocketAddress] {
  return [client.remoteAddress(), client.localAddress()];
}
