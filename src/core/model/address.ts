import ipaddr from "ipaddr.js";

export type Family = "v4" | "v6";

export const FAMILIES: readonly Family[] = ["v4", "v6"];

/** The family of an address that `canonicalIp` returned. */
export function familyOf(ip: string): Family {
  return ip.includes(":") ? "v6" : "v4";
}

const PLAIN_V4 =
  /^(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/;

/** Groups other than 0 around one `::` that stands for two or more: spelled as it should be already. */
const PLAIN_V6 =
  /^(?=(?:[^:]*:){2,6}[^:]*$)(?:[1-9a-f][\da-f]{0,3}(?::[1-9a-f][\da-f]{0,3})*)?::(?:[1-9a-f][\da-f]{0,3}(?::[1-9a-f][\da-f]{0,3})*)?$/;

/**
 * The one spelling of an IP address, or undefined where `text` is none. IPv4 only as four decimals
 * (`010.0.0.1` and `127.1` are read differently by different programs), IPv6 as RFC 5952 writes it.
 */
export function canonicalIp(text: string): string | undefined {
  if (PLAIN_V4.test(text) || PLAIN_V6.test(text)) return text;
  if (!text.includes(":") || text.includes("%") || !ipaddr.IPv6.isValid(text)) return undefined;
  return ipaddr.IPv6.parse(text).toRFC5952String();
}

/** The IPv4 address that a canonical IPv6 address stands for (`::ffff:a.b.c.d`); any other is as it is. */
export function unmappedIp(ip: string): string {
  if (!ip.startsWith("::ffff:")) return ip;
  const parsed = ipaddr.IPv6.parse(ip);
  return parsed.isIPv4MappedAddress() ? parsed.toIPv4Address().toString() : ip;
}

/** A network in one spelling: host bits cleared, `10.0.0.0/8`. */
export interface Cidr {
  readonly text: string;
  readonly family: Family;
  readonly prefix: number;
}

/** Reads `10.0.0.0/8`, `fd00::/8`, or a single address; undefined where `text` is neither. */
export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf("/");
  const ip = canonicalIp(slash < 0 ? text : text.slice(0, slash));
  if (ip === undefined) return undefined;
  const family = familyOf(ip);
  const bits = family === "v4" ? 32 : 128;
  const length = slash < 0 ? String(bits) : text.slice(slash + 1);
  if (!/^\d{1,3}$/.test(length) || Number(length) > bits) return undefined;
  const prefix = Number(length);
  if (family === "v4") return { text: `${networkOfV4(ip, prefix)}/${prefix}`, family, prefix };
  const network = ipaddr.fromByteArray(clearHostBits(ipaddr.parse(ip).toByteArray(), prefix));
  const spelled = canonicalIp(network.toString());
  return spelled === undefined ? undefined : { text: `${spelled}/${prefix}`, family, prefix };
}

/** The address with its host bits cleared: by numbers, since routes ask for it with each packet. */
function networkOfV4(ip: string, prefix: number): string {
  const number = ip.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  const network = number - (number % 2 ** (32 - prefix));
  return [24, 16, 8, 0].map((shift) => (network >>> shift) & 0xff).join(".");
}

function clearHostBits(bytes: readonly number[], prefix: number): number[] {
  return bytes.map((byte, index) => {
    const keep = Math.min(8, Math.max(0, prefix - index * 8));
    return byte & (0xff << (8 - keep)) & 0xff;
  });
}

/** Whether the network holds the address; never across families. */
export function cidrContains(cidr: Cidr, ip: string): boolean {
  if (familyOf(ip) !== cidr.family) return false;
  return parseCidr(`${ip}/${cidr.prefix}`)?.text === cidr.text;
}

export function isLoopback(ip: string): boolean {
  return ip === "::1" || ip.startsWith("127.");
}

/** All addresses of a machine, where one is listened on. */
export const WILDCARDS: Readonly<Record<Family, string>> = { v4: "0.0.0.0", v6: "::" };

export function isWildcard(ip: string): boolean {
  return ip === WILDCARDS.v4 || ip === WILDCARDS.v6;
}

/** `10.0.0.1:80`, `[fd00::1]:80`. */
export function formatHostPort(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** Reads `HOST:PORT`, with an IPv6 host in brackets; the host is an address or a name. */
export function parseHostPort(text: string): HostPort | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text);
  if (match === null) return undefined;
  const [, bracketed, plain, digits] = match;
  const port = Number(digits);
  if (!isPort(port)) return undefined;
  if (bracketed !== undefined) {
    const ip = canonicalIp(bracketed);
    return ip === undefined || familyOf(ip) === "v4" ? undefined : { host: ip, port };
  }
  if (plain === undefined || !(canonicalIp(plain) ?? isHostName(plain))) return undefined;
  return { host: plain, port };
}

export function isPort(port: unknown): port is number {
  return Number.isInteger(port) && Number(port) >= 1 && Number(port) <= 65535;
}

/** A name that DNS could hold and that is not a number-like address. */
export function isHostName(text: string): boolean {
  return (
    text.length <= 253 &&
    /^(?!-)[A-Za-z0-9_-]{1,63}(?:\.(?!-)[A-Za-z0-9_-]{1,63})*\.?$/.test(text) &&
    !/^[\d.]+$/.test(text)
  );
}
