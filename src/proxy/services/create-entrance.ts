import { CoreError } from "../../core/errors.ts";
import type { ListenerConfig } from "../engine-config.ts";
import { HttpEntrance } from "../http/http-entrance.ts";
import type { UpstreamRuntime } from "../loop/upstream-runtime.ts";
import type { SessionHost } from "../relay/session-host.ts";
import type { CounterRow } from "../stats/counter-row.ts";
import { UdpEntrance } from "../udp/udp-entrance.ts";
import type { Entrance } from "./entrance.ts";
import { Socks5Service } from "./socks5-service.ts";
import { StreamEntrance, type StreamListener } from "./stream-entrance.ts";
import { type ServiceParts, TcpService } from "./tcp-service.ts";

export interface EntranceParts {
  readonly host: SessionHost;
  readonly row: CounterRow;
  /** The upstream of that key, where there is one now. */
  readonly upstreamOf: (key: string) => UpstreamRuntime | undefined;
}

/** The entrance for the mode of a listener. */
export function createEntrance(config: ListenerConfig, parts: EntranceParts): Entrance {
  const { host, row, upstreamOf } = parts;
  const first = { config, row };
  const partsFor = (listener: StreamListener): ServiceParts => ({
    ...listener,
    upstream: () => upstreamOf(listener.config.upstream),
  });
  switch (config.mode) {
    case "tcp":
      return new StreamEntrance(host, first, (changed) => new TcpService(partsFor(changed)));
    case "socks5":
      return new StreamEntrance(
        host,
        first,
        (changed) => new Socks5Service(host, partsFor(changed)),
      );
    case "udp":
      return new UdpEntrance(host, { config, row, upstreamOf });
    case "http":
      return new HttpEntrance(host, { config, row, upstreamOf });
    case "h2":
    case "dns":
      throw new CoreError(
        "ERR_NOT_POSSIBLE_HERE",
        `listener ${config.key}: mode ${config.mode} is not available in this version`,
      );
  }
}
