import {
  canonicalIp,
  isHostName,
  isPort,
  parseCidr,
  parseHostPort,
} from "../../../core/model/address.ts";
import { PROTOCOLS } from "../../../core/model/common.ts";
import { parseSocketPath } from "../../../core/model/socket-path.ts";
import type { ListenAddress, ServerAddress, ShortPort, ShortRule } from "./short-form.ts";

const LOOPBACK = "127.0.0.1";

const MS_PER_UNIT: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** `HOST:PORT`, `PORT` (on loopback) or `unix:PATH`, as everywhere in Portolan. */
export function parseListen(text: string | number): ListenAddress | undefined {
  if (typeof text === "number" || /^\d+$/.test(text)) {
    return isPort(Number(text)) ? { address: LOOPBACK, port: Number(text) } : undefined;
  }
  const path = parseSocketPath(text);
  if (path !== undefined) return { address: path, port: 0 };
  const parsed = parseHostPort(text);
  const address = parsed === undefined ? undefined : canonicalIp(parsed.host);
  return parsed === undefined || address === undefined ? undefined : { address, port: parsed.port };
}

/** `HOST:PORT`, `HOST` or `unix:/PATH`; the host is an address or a name. */
export function parseServer(text: string): ServerAddress | undefined {
  const path = parseSocketPath(text);
  if (path !== undefined) return { host: path, isName: true, port: 0 };
  const parsed = parseHostPort(text) ?? { host: text.replace(/^\[(.*:.*)\]$/, "$1"), port: 0 };
  const ip = canonicalIp(parsed.host);
  if (ip !== undefined) return { host: ip, isName: false, port: parsed.port };
  return isHostName(parsed.host)
    ? { host: parsed.host, isName: true, port: parsed.port }
    : undefined;
}

/** `500ms`, `5s`, `1.5m`, `3h`, `1d`, in milliseconds. */
export function parseDurationMs(text: string): number | undefined {
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const factor = MS_PER_UNIT[unit];
  return factor === undefined ? undefined : Math.round(Number(amount) * factor);
}

/** `80`, or `80-90` with both ends. */
export function parsePortRange(
  text: string | number,
): { minPort: number; maxPort: number } | undefined {
  const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(String(text)) ?? [];
  const [minPort, maxPort] = [Number(first), Number(last)];
  return isPort(minPort) && isPort(maxPort) && minPort <= maxPort
    ? { minPort, maxPort }
    : undefined;
}

/** `53/udp`: a port with its protocol. */
export function parsePortText(text: string): ShortPort | undefined {
  const [digits, word = "", ...more] = text.split("/");
  const port = Number(digits);
  const protocol = PROTOCOLS.find((known) => known === word.toUpperCase());
  if (protocol === undefined || more.length > 0 || !isPort(port)) return undefined;
  return { name: "", protocol, port };
}

/** `allow 10.0.0.0/8`: a rule for all protocols and ports. */
export function parseRule(text: string): ShortRule | undefined {
  const [verb, word = "", ...more] = text.split(" ");
  const network = parseCidr(word)?.text;
  if ((verb !== "allow" && verb !== "deny") || more.length > 0) return undefined;
  return network === undefined ? undefined : { network, access: verb };
}
