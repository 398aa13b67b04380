import { CoreError } from "../core/errors.ts";
import { canonicalIp, type Family, familyOf, formatHostPort } from "../core/model/address.ts";

export interface IpSocketAddress {
  readonly family: Family;
  /** As `canonicalIp` writes it. */
  readonly ip: string;
  /** 0 where any free one is wanted. */
  readonly port: number;
  /** Streams there go by KCP over UDP, not by TCP. */
  readonly transport?: "kcp";
}

/** A path, or an abstract name as tools print it: `@name`. Empty for a socket without a name. */
export interface UnixSocketAddress {
  readonly family: "unix";
  readonly path: string;
}

export type SocketAddress = IpSocketAddress | UnixSocketAddress;

const UNIX_PREFIX = "unix:";
const MAX_PORT = 65_535;

export function ipAddress(ip: string, port: number): IpSocketAddress {
  return { family: familyOf(ip), ip, port };
}

export function kcpAddress(ip: string, port: number): IpSocketAddress {
  return { ...ipAddress(ip, port), transport: "kcp" };
}

export function unixAddress(path: string): UnixSocketAddress {
  return { family: "unix", path };
}

/** `10.0.0.1:80`, `[fd00::1]:80`, `unix:/run/web.sock`, `unix:@web`. */
export function formatSocketAddress(address: SocketAddress): string {
  if (address.family === "unix") return `${UNIX_PREFIX}${address.path}`;
  return formatHostPort(address.ip, address.port);
}

/** Reads what `formatSocketAddress` writes; host names are not addresses. */
export function parseSocketAddress(text: string): SocketAddress {
  if (text.startsWith(UNIX_PREFIX) && text.length > UNIX_PREFIX.length) {
    return unixAddress(text.slice(UNIX_PREFIX.length));
  }
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  const ip = canonicalIp(match?.[1] ?? match?.[2] ?? "");
  const port = Number(match?.[3]);
  const isBracketed = match?.[1] !== undefined;
  if (ip === undefined || port > MAX_PORT || isBracketed !== (familyOf(ip) === "v6")) {
    throw new CoreError(
      "ERR_CONFIG_INVALID",
      `address: "${text}" is none; write IP:PORT, [IPV6]:PORT, unix:PATH or unix:@NAME`,
    );
  }
  return ipAddress(ip, port);
}
