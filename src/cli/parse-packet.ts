import { CoreError } from "../core/errors.ts";
import { canonicalIp, familyOf, parseHostPort } from "../core/model/address.ts";
import { PROTOCOLS, type Protocol } from "../core/model/common.ts";

interface Target {
  readonly dst: string;
  readonly dstPort: number;
  readonly protocol: Protocol;
}

/** Reads `10.0.0.1:80`, `[fd00::1]:53/udp`. @throws CoreError ERR_USAGE */
function parseTarget(text: string): Target {
  const [address = "", name = "tcp", ...more] = text.split("/");
  const protocol = PROTOCOLS.find((candidate) => candidate === name.toUpperCase());
  const parsed = parseHostPort(address);
  const dst = parsed === undefined ? undefined : canonicalIp(parsed.host);
  if (parsed === undefined || dst === undefined || protocol === undefined || more.length > 0) {
    throw new CoreError(
      "ERR_USAGE",
      `--dst: "${text}" is not valid; expected IP:PORT, with /udp or /sctp where it is not TCP`,
    );
  }
  return { dst, dstPort: parsed.port, protocol };
}

interface Origin {
  readonly src: string;
  readonly srcPort?: number;
}

/** Reads an address, with or without a port. @throws CoreError ERR_USAGE */
function parseOrigin(text: string): Origin {
  const bare = canonicalIp(text);
  if (bare !== undefined) return { src: bare };
  const parsed = parseHostPort(text);
  const src = parsed === undefined ? undefined : canonicalIp(parsed.host);
  if (parsed === undefined || src === undefined) {
    throw new CoreError("ERR_USAGE", `--src: "${text}" is not valid; expected IP or IP:PORT`);
  }
  return { src, srcPort: parsed.port };
}

/** Reads both ends of a packet: they are of one family. @throws CoreError ERR_USAGE */
export function parsePacket(src: string, dst: string): { origin: Origin; target: Target } {
  const origin = parseOrigin(src);
  const target = parseTarget(dst);
  const [from, to] = [familyOf(origin.src), familyOf(target.dst)];
  if (from !== to) {
    throw new CoreError(
      "ERR_USAGE",
      `--src, --dst: ${origin.src} is IP${from} and ${target.dst} is IP${to}; expected addresses of one family`,
    );
  }
  return { origin, target };
}
