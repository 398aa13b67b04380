import { canonicalIp } from "../../core/model/address.ts";
import { ipAddress, type SocketAddress } from "../../platform/socket-address.ts";

/** What Node says about an end of a socket; undefined where it has no address of its own. */
export function nodeAddress(
  ip: string | undefined,
  port: number | undefined,
): SocketAddress | undefined {
  const canonical = canonicalIp(ip ?? "");
  return canonical === undefined ? undefined : ipAddress(canonical, port ?? 0);
}

/** How Node names a unix socket; abstract names begin with a zero byte. */
export function nodePath(path: string): string {
  return path.startsWith("@") ? `\0${path.slice(1)}` : path;
}
