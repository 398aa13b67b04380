import { isPort } from "../../core/model/address.ts";

/** A port of the node that leads to a workload. */
export interface PortMapping {
  readonly protocol: "tcp" | "udp";
  readonly hostPort: number;
  readonly port: number;
}

/** The most that one workload may have. */
const MAX_MAPPINGS = 256;

const ENTRY = /^(\d{1,5})(?::(\d{1,5}))?(?:\/(tcp|udp))?$/;

export type ReadMappings =
  | { readonly ok: true; readonly mappings: readonly PortMapping[] }
  | { readonly ok: false; readonly expected: string };

/** Reads `8080:80/tcp;53/udp`: the same port inside and TCP where nothing else is said. */
export function parsePortMappings(text: string): ReadMappings {
  const mappings: PortMapping[] = [];
  const seen = new Set<string>();
  for (const entry of text.split(";").map((part) => part.trim())) {
    if (entry === "") continue;
    const mapping = parseEntry(entry);
    if (mapping === undefined) return refuse(`HOST[:CONTAINER][/tcp|/udp], separated by ";"`);
    if (seen.has(keyOf(mapping))) return refuse(`each port once, not ${keyOf(mapping)} twice`);
    seen.add(keyOf(mapping));
    mappings.push(mapping);
  }
  return mappings.length > MAX_MAPPINGS
    ? refuse(`at most ${MAX_MAPPINGS} ports`)
    : { ok: true, mappings };
}

/** What two workloads can not both have: `8080/tcp`. */
export function keyOf({ hostPort, protocol }: Pick<PortMapping, "hostPort" | "protocol">): string {
  return `${hostPort}/${protocol}`;
}

function parseEntry(entry: string): PortMapping | undefined {
  const [, host, inside = host, protocol] = ENTRY.exec(entry) ?? [];
  const [hostPort, port] = [Number(host), Number(inside)];
  if (!isPort(hostPort) || !isPort(port)) return undefined;
  return { protocol: protocol === "udp" ? "udp" : "tcp", hostPort, port };
}

function refuse(expected: string): ReadMappings {
  return { ok: false, expected };
}
