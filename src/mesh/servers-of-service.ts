import { formatHostPort } from "../core/model/address.ts";
import { type Endpoint, NO_TOPOLOGY } from "../core/model/endpoint.ts";
import { groupsOf } from "../core/model/service.ts";
import { isSocketPath } from "../core/model/socket-path.ts";
import type { GlobalState } from "../core/store/state.ts";

/** What a server group follows. */
export interface Following {
  /** Key of the service. */
  readonly service: string;
  /** Name of its port; empty: the only one. */
  readonly servicePort: string;
  /** Empty: any. */
  readonly zone: string;
  /** Key of the group. */
  readonly serverGroup: string;
}

type Followed = Pick<GlobalState, "services" | "groups" | "nodes">;

/**
 * The healthy instances of a service in a zone, as servers of a group, known by `SERVICE@HOST:PORT`.
 * Those that are about to go, and those of unix sockets on other machines, are none.
 */
export function serversOfService(state: Followed, following: Following): readonly Endpoint[] {
  const servers = new Map<string, Endpoint>();
  for (const groupKey of followedGroups(state, following)) {
    for (const endpoint of state.groups.get(groupKey)?.endpoints ?? []) {
      const server = serverOf(endpoint, state, following);
      if (server !== undefined && !servers.has(server.name)) servers.set(server.name, server);
    }
  }
  return [...servers.values()];
}

/** All that the servers follow from, in parts that never change: where they are the same, the servers are. */
export function basisOfServers(state: Followed, following: Following): readonly unknown[] {
  const { service, serverGroup, zone } = following;
  const groups = followedGroups(state, following).map((key) => state.groups.get(key));
  const instances = zone === "" ? [] : groups.flatMap((group) => group?.endpoints ?? []);
  const nodes = instances.map(({ node }) => state.nodes.get(node));
  return [state.services.get(service), state.groups.get(serverGroup), ...groups, ...nodes];
}

/** Keys of the groups whose instances count: those of the service, but not the one that is kept. */
export function followedGroups(
  { services }: Pick<Followed, "services">,
  { service: key, serverGroup }: Pick<Following, "service" | "serverGroup">,
): readonly string[] {
  const service = services.get(key)?.service;
  const groups = service === undefined ? [key] : groupsOf(service).map(({ group }) => group);
  return groups.filter((group) => group !== serverGroup);
}

function serverOf(endpoint: Endpoint, state: Followed, following: Following): Endpoint | undefined {
  const host = endpoint.addresses[0] ?? endpoint.hostName;
  if (isSocketPath(host) || !isWanted(endpoint, state, following)) return undefined;
  const port = portOf(endpoint, state, following);
  if (port === undefined) return undefined;
  const [namespace, group] = partsOf(following.serverGroup);
  const [, service] = partsOf(following.service);
  return {
    ...endpoint,
    namespace,
    group,
    name: `${service}@${formatHostPort(host, port)}`,
    ports: [{ name: "", port }],
    // These were about its own service.
    hints: NO_TOPOLOGY,
    needs: [],
    labels: {},
    annotations: {},
    source: "",
    instance: -1,
  };
}

function isWanted(endpoint: Endpoint, { nodes }: Followed, { zone }: Following): boolean {
  if (!endpoint.ready || endpoint.terminating) return false;
  if (zone === "") return true;
  const own = endpoint.zone === "" ? nodes.get(endpoint.node)?.zone : endpoint.zone;
  return own === zone;
}

/** Where there is no service to ask, the endpoint says it itself. */
function portOf(
  endpoint: Endpoint,
  { services }: Followed,
  { service: key, servicePort }: Following,
): number | undefined {
  const { ports } = endpoint;
  const named = ports.find(({ name }) => name === servicePort);
  const own = named ?? (servicePort === "" && ports.length === 1 ? ports[0] : undefined);
  if (own !== undefined || ports.length > 0) return own?.port;
  const offered = services.get(key)?.service.ports ?? [];
  const port =
    servicePort === "" && offered.length === 1
      ? offered[0]
      : offered.find(({ name }) => name === servicePort);
  return port === undefined || port.targetPort === 0 ? undefined : port.targetPort;
}

function partsOf(key: string): readonly [namespace: string, name: string] {
  const slash = key.indexOf("/");
  return [key.slice(0, slash), key.slice(slash + 1)];
}
