import { CoreError } from "../core/errors.ts";
import type { HostPort } from "../core/model/address.ts";
import { canonicalIp, familyOf, formatHostPort, parseHostPort } from "../core/model/address.ts";
import { type Endpoint, endpointSchema } from "../core/model/endpoint.ts";
import { groupSchema } from "../core/model/group.ts";
import { type ListenerMode, listenerSchema } from "../core/model/listener.ts";
import type { ModelObject } from "../core/model/object.ts";
import { serviceSchema } from "../core/model/service.ts";
import { isSocketPath, nameOfPlace, parseSocketPath } from "../core/model/socket-path.ts";
import { listenPlace } from "../core/options/listen-place.ts";
import type { ValuesOf } from "../core/options/option-spec.ts";
import type { LB_OPTIONS } from "./lb-options.ts";
import { lbTls } from "./lb-tls.ts";

export type LbValues = ValuesOf<typeof LB_OPTIONS>;

/** What everything of the load balancer is called. */
const NAME = "lb";

/**
 * The state that `lb` runs with: one service with its listener, its group and its servers.
 * @throws CoreError ERR_USAGE with all problems
 */
export function lbObjects(values: LbValues): readonly ModelObject[] {
  const problems: string[] = [];
  const at = listenPlace(values.listen, problems);
  const servers = parseServers(values, problems);
  checkOptions(values, problems);
  const { certificates, tls } = lbTls(values, problems);
  if (at !== undefined) checkFamilies(at.address, servers, problems);
  if (at === undefined || problems.length > 0) {
    throw new CoreError("ERR_USAGE", problems.join("\n"));
  }
  const mode: ListenerMode = values.socks5 ? "socks5" : values.protocol;
  return [
    serviceSchema.parse({
      kind: "Service",
      name: NAME,
      type: "Plain",
      // Only the listener leads to it: the number is told to people.
      ports: [{ port: at.port || 1, protocol: mode === "udp" ? "UDP" : "TCP" }],
    }),
    groupSchema.parse({
      kind: "Group",
      name: NAME,
      method: values.method,
      healthCheck: { protocol: values.healthCheck ?? (mode === "udp" ? "none" : "tcp") },
    }),
    listenerSchema.parse({
      kind: "Listener",
      name: NAME,
      ...at,
      service: `default/${NAME}`,
      mode,
      allowOthers: values.allowOthers,
      usersFile: values.socks5Users ?? "",
      ...(tls && { tls }),
    }),
    ...certificates,
    ...servers.map(endpointOf),
  ];
}

function parseServers(values: LbValues, problems: string[]): readonly HostPort[] {
  const texts = values.servers.flatMap((part) => part.split(","));
  const servers = new Map<string, HostPort>();
  for (const text of texts) {
    const server = parseServer(text.trim());
    if (server === undefined) {
      problems.push(`--servers: "${text}" is not valid; expected HOST:PORT or unix:/PATH`);
    } else if (isSocketPath(server.host) && values.protocol === "udp") {
      problems.push(`--servers: "${text}" is not valid with --protocol udp; expected HOST:PORT`);
    } else if (servers.has(nameOf(server))) {
      problems.push(`--servers: "${text}" is given twice; expected each server once`);
    } else servers.set(nameOf(server), server);
  }
  if (texts.length === 0 && !(values.socks5 && values.allowOthers)) {
    problems.push("--servers: missing; expected HOST:PORT or unix:/PATH, separated by commas");
  }
  return [...servers.values()];
}

/** Of a unix socket the host is the path, and the port 0. */
function parseServer(text: string): HostPort | undefined {
  const path = parseSocketPath(text);
  return path === undefined ? parseHostPort(text) : { host: path, port: 0 };
}

function checkOptions(values: LbValues, problems: string[]): void {
  const { socks5, allowOthers, socks5Users, protocol } = values;
  if (allowOthers && !socks5) problems.push("--allow-others: expected --socks5 with it");
  if (socks5Users !== undefined && !socks5) {
    problems.push("--socks5-users: expected --socks5 with it");
  }
  if (socks5 && protocol !== "tcp") {
    problems.push(`--protocol: "${protocol}" is not valid with --socks5; expected tcp`);
  }
}

/** Servers are called in the family that their client came by, as everywhere. */
function checkFamilies(address: string, servers: readonly HostPort[], problems: string[]): void {
  if (address.startsWith("/")) return;
  const family = familyOf(address);
  for (const { host, port } of servers) {
    const ip = canonicalIp(host);
    if (ip === undefined || familyOf(ip) === family) continue;
    problems.push(
      `--servers: "${formatHostPort(host, port)}" is not valid with --listen on ${address}; expected servers of the same IP version, or host names`,
    );
  }
}

function endpointOf(server: HostPort): Endpoint {
  const ip = canonicalIp(server.host);
  return endpointSchema.parse({
    kind: "Endpoint",
    name: nameOf(server),
    group: NAME,
    ...(ip === undefined ? { hostName: server.host } : { addresses: [ip] }),
    ports: server.port === 0 ? [] : [{ port: server.port }],
  });
}

function nameOf({ host, port }: HostPort): string {
  return nameOfPlace(host, port);
}
