import { formatHostPort } from "../../core/model/address.ts";
import { formatListenAddress, type ListenAddress } from "../../core/options/listen-address.ts";
import type { ManagerConfig } from "./manager-config.ts";

const ANY = new Set(["0.0.0.0", "::"]);

/**
 * Where nodes reach a manager, `HOST:PORT`; undefined where they can not, or where nothing is known.
 * @param listening what it listens on in the end
 * @param primaryIp of this machine
 */
export function reachedAt(
  { address, names }: Pick<ManagerConfig, "address" | "names">,
  listening: ListenAddress,
  primaryIp: () => string | undefined,
): string | undefined {
  if (address !== undefined) return formatListenAddress(address);
  if (listening.kind === "unix") return undefined;
  if (!ANY.has(listening.host)) return formatListenAddress(listening);
  const host = names[0] ?? primaryIp();
  return host === undefined ? undefined : formatHostPort(host, listening.port);
}
