import { protocolOf } from "../../core/model/listener.ts";
import { formatSocketAddress } from "../../platform/socket-address.ts";
import type { ListenerConfig } from "../engine-config.ts";

/**
 * By what a listener's socket is known: its address, so that a listener that takes the place of
 * another keeps the socket and all that wait in it. Where any port will do, each has its own.
 */
export function socketIdOf({ key, address, mode }: ListenerConfig): string {
  const text = `${protocolOf({ mode })} ${formatSocketAddress(address)}`;
  return address.family !== "unix" && address.port === 0 ? `${text} ${key}` : text;
}
