import type { ListenerConfig } from "../engine-config.ts";

/**
 * The listener as the entrance behind TLS sees it: plain, and without PROXY headers, which stand
 * before the handshake. Its streams have the addresses that those told.
 */
export function withoutTls(config: ListenerConfig): ListenerConfig {
  const { send } = config.proxyProtocol;
  return { ...config, tls: undefined, proxyProtocol: { send, acceptFrom: [] } };
}
