import { type Cidr, cidrContains, isHostName, parseCidr, unmappedIp } from "./address.ts";

/** Which targets of connections are meant. */
export interface TargetPattern {
  readonly what:
    | { readonly kind: "any" }
    | { readonly kind: "network"; readonly network: Cidr }
    /** A name in lower case: itself, the names below it, or both. */
    | {
        readonly kind: "name";
        readonly name: string;
        readonly isItself: boolean;
        readonly isBelow: boolean;
      };
  /** Both ends included. */
  readonly minPort: number;
  readonly maxPort: number;
}

/** A target as far as it is known: a name, its address, or both. */
export interface Target {
  /** In lower case; empty where there is none. */
  readonly name: string;
  /** Canonical; empty where it is not known yet. */
  readonly ip: string;
  readonly port: number;
}

/** What would be right, for errors. */
export const TARGET_PATTERN_FORM =
  "*, a network, NAME, *.NAME (those below it) or .NAME (both), each with :PORT or :PORT-PORT where only these are meant";

const MAX_PORT = 65_535;
const THIS_MACHINE: ReadonlyMap<string, string> = new Map([
  ["0.0.0.0", "127.0.0.1"],
  ["::", "::1"],
]);
const PORTS = /:(\d{1,5})(?:-(\d{1,5}))?$/;

/** Reads `10.0.0.0/8`, `[fd00::/8]:22`, `*.example.com:80-90`; undefined where it is none. */
export function parseTargetPattern(text: string): TargetPattern | undefined {
  // Without brackets the end of an IPv6 address is no port.
  const plain = parseWhat(text);
  if (plain !== undefined) return { what: plain, minPort: 0, maxPort: MAX_PORT };
  const ports = PORTS.exec(text);
  if (ports === null) return undefined;
  const [all, low, high = low] = ports;
  const [minPort, maxPort] = [Number(low), Number(high)];
  const host = text.slice(0, text.length - all.length);
  const what = parseWhat(host.replace(/^\[(.*)\]$/, "$1"));
  const isRange = minPort <= maxPort && maxPort <= MAX_PORT;
  return what === undefined || !isRange ? undefined : { what, minPort, maxPort };
}

function parseWhat(text: string): TargetPattern["what"] | undefined {
  if (text === "*") return { kind: "any" };
  const network = parseCidr(text);
  if (network !== undefined) return { kind: "network", network };
  const [, prefix = "", name = ""] = /^(\*\.|\.)?(.*)$/.exec(text) ?? [];
  if (!isHostName(name)) return undefined;
  return {
    kind: "name",
    name: name.toLowerCase().replace(/\.$/, ""),
    isItself: prefix !== "*.",
    isBelow: prefix !== "",
  };
}

/** Undefined where only the address of the target can tell, and it is not known yet. */
export function fitsTarget(
  { what, minPort, maxPort }: TargetPattern,
  { name, ip, port }: Target,
): boolean | undefined {
  if (port < minPort || port > maxPort) return false;
  switch (what.kind) {
    case "any":
      return true;
    case "network":
      return ip === "" ? undefined : addressesOf(ip).some((one) => cidrContains(what.network, one));
    case "name":
      if (name === "") return false;
      return (
        (what.isItself && name === what.name) || (what.isBelow && name.endsWith(`.${what.name}`))
      );
  }
}

/** What a connection to it reaches: IPv4 in the clothes of IPv6 is IPv4, and "any address" is this machine. */
function addressesOf(ip: string): readonly string[] {
  const plain = unmappedIp(ip);
  const own = THIS_MACHINE.get(plain);
  return own === undefined ? [plain] : [plain, own];
}
