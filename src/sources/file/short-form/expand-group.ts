import type { PathPart } from "../../../core/model/problems.ts";
import { formatPlace, isSocketPath, nameOfPlace } from "../../../core/model/socket-path.ts";
import type { Expansion } from "./expansion.ts";
import { keyIn, type Name } from "./names.ts";
import type { ExpandedPort } from "./service-ports.ts";
import type { ShortBalancing, ShortMetadata, ShortServer } from "./short-form.ts";

export interface GroupContent {
  readonly balancing: ShortBalancing;
  /** The ports of the services that send to the group; empty where none is known. */
  readonly ports: readonly ExpandedPort[];
  /** Undefined where the group is no object of its own, only the name that endpoints have in common. */
  readonly metadata: ShortMetadata | undefined;
}

/** A group becomes a Group, where it says anything, and an Endpoint for each server. */
export function expandGroup(
  out: Expansion,
  path: readonly PathPart[],
  { namespace, name }: Name,
  { balancing, ports, metadata }: GroupContent,
): void {
  const { method, healthCheck, slowStart, hints, tls, servers } = balancing;
  if (metadata !== undefined) {
    const { labels, annotations } = metadata;
    out.emit(path, {
      kind: "Group",
      namespace,
      name,
      labels,
      annotations,
      method,
      healthCheck,
      slowStartMs: slowStart,
      hints,
      tls: tls && { ...tls, certificate: keyIn(namespace, tls.certificate) },
    });
  }
  servers.forEach((server, index) => {
    const at = [...path, "servers", index];
    const problem = portProblem(server, ports);
    if (problem === undefined) out.emit(at, endpointOf({ namespace, name }, server, ports));
    else out.fail(at, addressOf(server), problem);
  });
}

/** What would be right, where it is not clear on which port the server serves. */
function portProblem(server: ShortServer, ports: readonly ExpandedPort[]): string | undefined {
  const known = new Set(ports.flatMap((port) => [port.name, port.targetPortName]));
  const unknown = Object.keys(server.ports).find((name) => !known.has(name));
  if (unknown !== undefined && ports.length > 0) {
    const names = ports.map((port) => JSON.stringify(port.name)).join(", ");
    return `ports of the service (${names}), not ${JSON.stringify(unknown)}`;
  }
  const says = isOnSocket(server) || portOf(server) !== 0 || Object.keys(server.ports).length > 0;
  if (says || ports.some((port) => port.targetPort !== 0)) return undefined;
  return "HOST:PORT, since the service says no target port";
}

function endpointOf(
  { namespace, name: group }: Name,
  server: ShortServer,
  ports: readonly ExpandedPort[],
): object {
  const isName = server.at.some((address) => address.isName);
  const hosts = server.at.map((address) => address.host);
  return {
    kind: "Endpoint",
    namespace,
    name: server.name ?? nameOf(server),
    labels: server.labels,
    annotations: server.annotations,
    group,
    podName: server.podName,
    addresses: isName ? [] : hosts,
    hostName: isName ? hosts[0] : "",
    families: server.families,
    ports: endpointPorts(server, ports),
    node: server.node,
    zone: server.zone,
    hints: server.topology,
    ready: server.ready,
    serving: server.serving,
    terminating: server.terminating,
    weight: server.weight,
    instance: server.instance,
    needs: server.needs.map((need) => keyIn(namespace, need)),
  };
}

/** The port in `HOST:PORT` is for all ports of the service that the server does not name. */
function endpointPorts(server: ShortServer, ports: readonly ExpandedPort[]): readonly object[] {
  const named = Object.entries(server.ports).map(([name, port]) => ({ name, port }));
  const port = portOf(server);
  if (port === 0) return named;
  const names = ports.length === 0 ? [""] : ports.map((one) => one.name);
  const others = names.filter((name) => !Object.hasOwn(server.ports, name));
  return [...named, ...others.map((name) => ({ name, port }))];
}

function portOf({ at: [first] }: ShortServer): number {
  return first?.port ?? 0;
}

function isOnSocket({ at: [first] }: ShortServer): boolean {
  return first !== undefined && isSocketPath(first.host);
}

function addressOf(server: ShortServer): string {
  return placeOf(server, formatPlace);
}

function nameOf(server: ShortServer): string {
  return placeOf(server, nameOfPlace);
}

function placeOf(server: ShortServer, format: (host: string, port: number) => string): string {
  const [first] = server.at;
  if (first === undefined) return "";
  return first.port === 0 && !isOnSocket(server) ? first.host : format(first.host, first.port);
}
