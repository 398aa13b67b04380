import { FAMILIES, type Family, familyOf } from "../../core/model/address.ts";
import { type Group, type GroupTls, groupSchema } from "../../core/model/group.ts";
import { keyOf } from "../../core/model/object.ts";
import { NO_HINTS, type RouteHints } from "../../core/model/route-hints.ts";
import {
  type GroupRef,
  groupsOf,
  type ServicePort,
  type TrafficPolicy,
} from "../../core/model/service.ts";
import type { ServiceEndpoints } from "../../core/sinks/fullstate.ts";
import { addressIn } from "../../core/view/candidates.ts";
import type { NodeEndpoint } from "../../core/view/ops.ts";
import type {
  DialTlsConfig,
  GroupConfig,
  ServerConfig,
  UpstreamConfig,
  UpstreamException,
  UpstreamGroupConfig,
} from "../../proxy/engine-config.ts";

import { transportOf } from "./transport-of.ts";

/** The families that a server may be called in, the first that it has an address of. */
export type Families = readonly Family[];

/** How a group balances that is no object of its own. */
const IMPLICIT_GROUP: Group = groupSchema.parse({ kind: "Group", name: "implicit" });

/** For a listener that leads nowhere: who calls it is told that nobody answers. */
const NOBODY: UpstreamConfig = { key: "nobody", groups: [], affinitySeconds: 0 };

/** TLS to the servers of a group; undefined where it can not be had. */
export type PlanGroupTls = (tls: GroupTls, group: string) => DialTlsConfig | undefined;

/** @param isByDatagrams whether they are called by UDP */
export type IsReachable = (group: Group, isByDatagrams: boolean) => boolean;

/** Collects the upstreams that listeners ask for, each once, with their groups. */
export class UpstreamPlanner {
  readonly #groupObjects: ReadonlyMap<string, Group>;
  readonly #upstreams = new Map<string, UpstreamConfig>();
  readonly #groups: GroupConfig[] = [];
  readonly #planTls: PlanGroupTls;
  readonly #isReachable: IsReachable;

  /**
   * @param planTls gives TLS to the servers of a group; undefined where they must not be called
   * @param isReachable whether the servers of a group can be called in the way it wants
   */
  constructor(
    groupObjects: ReadonlyMap<string, Group>,
    planTls: PlanGroupTls,
    isReachable: IsReachable,
  ) {
    this.#groupObjects = groupObjects;
    this.#planTls = planTls;
    this.#isReachable = isReachable;
  }

  get upstreams(): readonly UpstreamConfig[] {
    return [...this.#upstreams.values()];
  }

  get groups(): readonly GroupConfig[] {
    return this.#groups;
  }

  /** Key of an upstream without servers. */
  nobody(): string {
    this.#upstreams.set(NOBODY.key, NOBODY);
    return NOBODY.key;
  }

  /** Key of the upstream of a service's port: its endpoints by the external traffic policy. */
  forPort(item: ServiceEndpoints, port: ServicePort, families: Families): string {
    return this.forPolicy(item.service.service.externalTrafficPolicy, item, port, families);
  }

  /** The same by any traffic policy. */
  forPolicy(
    policy: TrafficPolicy,
    item: ServiceEndpoints,
    port: ServicePort,
    families: Families,
  ): string {
    const { key: service } = item.service;
    const list = policy === "Local" ? "localFor" : "clusterFor";
    const scope = list === "localFor" ? "local" : "cluster";
    const key = `${service}:${port.port}/${port.protocol}/${scope}/${families.join("+")}`;
    return this.#ensure(key, item, port.protocol === "UDP", (endpoint) => {
      const server = serverOf(endpoint, port, { list, families });
      return server === undefined ? [] : [server];
    });
  }

  /** Who calls from one of a node's own addresses is not bound by the external traffic policy. */
  exceptionsFor(
    own: readonly string[],
    item: ServiceEndpoints,
    port: ServicePort,
    families: Families,
  ): readonly UpstreamException[] {
    const networks = own.filter((ip) => families.includes(familyOf(ip)));
    const isBound = item.service.service.externalTrafficPolicy === "Local";
    if (!isBound || networks.length === 0) return [];
    return [{ networks, upstream: this.forPolicy("Cluster", item, port, families) }];
  }

  /** Key of the upstream of a port whose endpoints are told by name: each in all of its families. */
  forNames(item: ServiceEndpoints, port: ServicePort): string {
    const key = `${item.service.key}:${port.port}/${port.protocol}/names`;
    return this.#ensure(key, item, false, (endpoint) =>
      FAMILIES.flatMap((family) => {
        const server = serverOf(endpoint, port, { list: "clusterFor", families: [family] });
        return server === undefined ? [] : [{ ...server, key: `${server.key} ${family}` }];
      }),
    );
  }

  #ensure(
    key: string,
    item: ServiceEndpoints,
    isByDatagrams: boolean,
    serversOf: (endpoint: NodeEndpoint) => readonly ServerConfig[],
  ): string {
    if (this.#upstreams.has(key)) return key;
    const { service: model } = item.service;
    const groups = groupsOf(model).map((ref): UpstreamGroupConfig => {
      const group = `${key} ${ref.group}`;
      const servers = item.endpoints
        .filter((endpoint) => endpoint.group === ref.group)
        .flatMap(serversOf);
      const object = this.#groupObjects.get(ref.group) ?? IMPLICIT_GROUP;
      const { method, healthCheck, slowStartMs, tls } = object;
      const secured = tls && this.#planTls(tls, ref.group);
      const isSecure = tls === undefined || secured !== undefined;
      const mayCall = this.#isReachable(object, isByDatagrams) && isSecure;
      const balancing = { method, healthCheck, slowStartMs, transport: transportOf(object) };
      this.#groups.push({
        key: group,
        ...balancing,
        tls: secured,
        servers: mayCall ? servers : [],
      });
      return { group, weight: ref.weight, hints: this.#hintsOf(ref) };
    });
    const { affinitySeconds } = model;
    this.#upstreams.set(key, { key, groups, affinitySeconds });
    return key;
  }

  /** The hints of the attachment win over the group's own. */
  #hintsOf({ group, hints }: GroupRef): RouteHints {
    const saysNothing = hints.host === "" && hints.path === "" && hints.port === 0;
    return saysNothing ? (this.#groupObjects.get(group)?.hints ?? NO_HINTS) : hints;
  }
}

/** The endpoint as a server of the port; undefined where it is not to be used for it. */
function serverOf(
  { endpoint, ports }: NodeEndpoint,
  port: ServicePort,
  choice: { readonly list: "clusterFor" | "localFor"; readonly families: Families },
): ServerConfig | undefined {
  const use = ports.find(({ name }) => name === port.name);
  const family = choice.families.find((one) => use?.[choice.list].includes(one));
  if (use === undefined || family === undefined) return undefined;
  const host = addressIn(endpoint, family);
  if (host === undefined) return undefined;
  const { families, weight } = endpoint;
  const wanted = families.length === 0 ? {} : { families };
  return { key: keyOf(endpoint), host, port: use.target, weight, ...wanted };
}
