import type { InstancePort, NamedService, NameMeaning } from "../table/name-meaning.ts";

/** A name that services are asked for by: `_80._tcp.web`, `_http._tcp.web` or `web`. */
export interface ServiceName {
  readonly host: string;
  /** Undefined where the name does not say it. */
  readonly protocol: InstancePort["protocol"] | undefined;
  /** Undefined where the name says none by number. */
  readonly port: number | undefined;
}

/** Where a service is served. */
export interface SrvTarget {
  readonly host: string;
  readonly port: number;
  readonly weight: number;
}

/** `_service._protocol.` before the name (RFC 2782). */
const LABELS = /^_([^.\\]+)\._(tcp|udp)\.(.+)$/i;
const DIGITS = /^\d{1,5}$/;
const MAX_TARGETS = 64;
const MAX_WEIGHT = 65_535;

export function parseServiceName(name: string): ServiceName {
  const [, service = "", protocol = "", host = ""] = LABELS.exec(name) ?? [];
  if (host === "") return { host: name, protocol: undefined, port: undefined };
  return {
    host,
    protocol: protocol.toLowerCase() === "tcp" ? "tcp" : "udp",
    port: DIGITS.test(service) ? Number(service) : undefined,
  };
}

/**
 * The ports of the instances that a name means. A plain name leads to every instance by its own
 * name, where that has an address; the name of a policy to itself.
 */
export function planServices(
  name: string,
  meaning: NameMeaning<NamedService>,
  hasAddresses: (host: string) => boolean,
): readonly SrvTarget[] {
  const asked = parseServiceName(name);
  const { instances } = meaning.service;
  const isAsked = ({ protocol, port }: InstancePort): boolean =>
    (asked.protocol ?? protocol) === protocol && (asked.port ?? port) === port;
  const all = instances
    .filter(({ number }) => meaning.kind !== "instance" || number === meaning.number)
    .flatMap(({ number, weight = 1, ports = [] }) =>
      numbersOf(ports.filter(isAsked)).map((port) => ({
        host: `${number}.${asked.host}`,
        port,
        weight: Math.min(MAX_WEIGHT, Math.max(0, Math.round(weight))),
      })),
    );
  const reached = meaning.kind === "plain" ? all.filter(({ host }) => hasAddresses(host)) : [];
  if (reached.length > 0) return reached.slice(0, MAX_TARGETS);
  const ports = [...new Set(all.map(({ port }) => port))];
  return ports.slice(0, MAX_TARGETS).map((port) => ({ host: asked.host, port, weight: 1 }));
}

/** The same number may be one of TCP and of UDP. */
function numbersOf(ports: readonly InstancePort[]): readonly number[] {
  return [...new Set(ports.map(({ port }) => port))];
}
