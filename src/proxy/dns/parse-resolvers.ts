import { canonicalIp, parseHostPort } from "../../core/model/address.ts";
import { type IpSocketAddress, ipAddress } from "../../platform/socket-address.ts";

const DNS_PORT = 53;
/** As resolv.conf(5) says for a file that names none. */
const LOCAL_RESOLVER = "127.0.0.1";

/** The resolvers of a resolv.conf(5); what else stands there is not ours to judge. */
export function parseResolvers(text: string): readonly IpSocketAddress[] {
  const resolvers = text.split(/\r?\n/).flatMap((line) => {
    const [word, address = ""] = line.trim().split(/\s+/);
    const ip = word === "nameserver" ? canonicalIp(address) : undefined;
    return ip === undefined ? [] : [ipAddress(ip, DNS_PORT)];
  });
  return resolvers.length > 0 ? resolvers : [ipAddress(LOCAL_RESOLVER, DNS_PORT)];
}

/** `IP`, `IP:PORT` or `[IPV6]:PORT`; undefined where it is none. */
export function parseResolver(text: string): IpSocketAddress | undefined {
  const alone = canonicalIp(text);
  if (alone !== undefined) return ipAddress(alone, DNS_PORT);
  const place = parseHostPort(text);
  const ip = place && canonicalIp(place.host);
  return place === undefined || ip === undefined ? undefined : ipAddress(ip, place.port);
}
