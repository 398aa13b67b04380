import { CoreError } from "../../core/errors.ts";
import type { ListenerConfig } from "../engine-config.ts";
import type { SessionHost } from "../relay/session-host.ts";
import type { TlsCaller, TlsTermination } from "../tls/tls-termination.ts";
import { Tunnels } from "./tunnels.ts";

/** TCP, TLS and the upgrade: each takes a round trip or two. */
const ROUNDS = 2;

/** @throws CoreError where a server has TLS that can not be spoken here, or authorities are no good */
export function createTunnels(
  host: SessionHost,
  listener: ListenerConfig,
  tls: TlsTermination | undefined,
): Tunnels {
  const { key, websocksAgent: config } = listener;
  if (config === undefined) {
    throw new CoreError("ERR_CONFIG_INVALID", `listener ${key}: websocksAgent is missing`);
  }
  return new Tunnels(host, {
    config,
    caller: createCaller(key, config.servers.values(), config.caPem, tls),
    nowMs: Date.now,
    listener: key,
    linkTimeoutMs: ROUNDS * listener.connectTimeoutMs,
    bufferBytes: listener.outBufferBytes,
  });
}

function createCaller(
  key: string,
  servers: Iterable<{ readonly isSecure: boolean }>,
  caPem: string,
  tls: TlsTermination | undefined,
): TlsCaller | undefined {
  if (![...servers].some(({ isSecure }) => isSecure)) return undefined;
  if (tls === undefined) {
    throw new CoreError(
      "ERR_NOT_POSSIBLE_HERE",
      `listener ${key}: wss:// is spoken on the provider posix only, which is not used here`,
    );
  }
  return tls.createCaller(caPem);
}
