import { CoreError } from "../../core/errors.ts";
import { DnsEntrance } from "../dns/dns-entrance.ts";
import type { CertificateConfig, ListenerConfig } from "../engine-config.ts";
import { H2Entrance } from "../h2/h2-entrance.ts";
import { HttpEntrance } from "../http/http-entrance.ts";
import type { UpstreamRuntime } from "../loop/upstream-runtime.ts";
import type { SessionHost } from "../relay/session-host.ts";
import type { CounterRow } from "../stats/counter-row.ts";
import type { TlsTermination } from "../tls/tls-termination.ts";
import { withoutTls } from "../tls/without-tls.ts";
import { UdpEntrance } from "../udp/udp-entrance.ts";
import { AgentService } from "../websocks/agent-service.ts";
import { createTunnels } from "../websocks/create-tunnels.ts";
import { WebsocksService } from "../websocks/websocks-service.ts";
import type { Entrance } from "./entrance.ts";
import { FlowBudget } from "./socks5-association.ts";
import { Socks5Service } from "./socks5-service.ts";
import { StreamEntrance, type StreamListener } from "./stream-entrance.ts";
import { type ServiceParts, TcpService } from "./tcp-service.ts";

export interface EntranceParts {
  readonly host: SessionHost;
  readonly row: CounterRow;
  /** The upstream of that key, where there is one now. */
  readonly upstreamOf: (key: string) => UpstreamRuntime | undefined;
  /** Undefined where no TLS can be terminated. */
  readonly tls: TlsTermination | undefined;
  /** Those that the listener's TLS names, in that order. */
  readonly certificates: readonly CertificateConfig[];
}

/** Destinations of datagrams of one listener in one loop; each takes a descriptor. */
const MAX_SOCKS5_FLOWS = 1024;

/** The entrance for a listener: for its mode, and with TLS before it where it has that. */
export function createEntrance(config: ListenerConfig, parts: EntranceParts): Entrance {
  if (config.tls === undefined) return createPlain(config, parts);
  const { host, row, certificates } = parts;
  if (parts.tls === undefined) {
    throw new CoreError(
      "ERR_NOT_POSSIBLE_HERE",
      `listener ${config.key}: TLS is terminated on the provider posix only, which is not used here`,
    );
  }
  const inner = createPlain(withoutTls(config), parts);
  return parts.tls.secure(host, { config, tls: config.tls, row, certificates }, inner);
}

/** The entrance for the mode of a listener. */
function createPlain(config: ListenerConfig, parts: EntranceParts): Entrance {
  const { host, row, upstreamOf } = parts;
  const first = { config, row };
  const partsFor = (listener: StreamListener): ServiceParts => ({
    ...listener,
    upstreamOf,
  });
  switch (config.mode) {
    case "tcp":
      return new StreamEntrance(host, first, (changed) => new TcpService(partsFor(changed)));
    case "socks5": {
      const budget = new FlowBudget(MAX_SOCKS5_FLOWS);
      return new StreamEntrance(
        host,
        first,
        (changed) => new Socks5Service(host, partsFor(changed), budget),
      );
    }
    case "udp":
      return new UdpEntrance(host, { config, row, upstreamOf });
    case "http":
      return new HttpEntrance(host, { config, row, upstreamOf });
    case "h2":
      return new H2Entrance(host, { config, row, upstreamOf });
    case "dns":
      return new DnsEntrance(host, { config, row, upstreamOf });
    case "websocks":
      return new StreamEntrance(
        host,
        first,
        (changed) => new WebsocksService(host, partsFor(changed), Date.now),
      );
    case "websocks-agent":
      return new StreamEntrance(
        host,
        first,
        (changed) =>
          new AgentService(host, partsFor(changed), createTunnels(host, changed.config, parts.tls)),
      );
  }
}
