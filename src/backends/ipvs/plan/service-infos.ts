import { familyOf, isLoopback, isWildcard } from "../../../core/model/address.ts";
import type { Protocol } from "../../../core/model/common.ts";
import { type Listener, leadsTo, protocolOf } from "../../../core/model/listener.ts";
import type { SecurityGroup } from "../../../core/model/security-group.ts";
import type { Service, ServicePort } from "../../../core/model/service.ts";
import type { RouteNode } from "../../../core/route/route-node.ts";
import type { ServiceEndpoints } from "../../../core/sinks/fullstate.ts";
import { type AccessList, listenerAccess, sourceRangeAccess } from "../../access-list.ts";
import type { PlanContext } from "../../plan-context.ts";
import { type PortOutcomes, portOutcomes } from "../../port-targets.ts";
import { balancingOf, type Scheduler } from "./balancing.ts";
import { endpointInfos } from "./endpoint-infos.ts";
import type { InsideMarks } from "./inside-marks.ts";
import type {
  Balancing,
  CallOutcome,
  Entrance,
  EntranceKind,
  ServiceInfo,
  ServiceType,
  ServiceWithEndpoints,
} from "./service-info.ts";

/** What services of one family depend on beside themselves. */
export interface InfoFacts {
  readonly context: PlanContext;
  readonly marks: InsideMarks;
  readonly securityGroups: ReadonlyMap<string, SecurityGroup>;
  /** Whether an address is left to somebody else: nothing is served there. */
  isExcluded(ip: string): boolean;
}

/** A service, or the name of one that listeners lead to and that does not exist. */
export interface InfoSource {
  readonly key: string;
  readonly entry: ServiceEndpoints | undefined;
  readonly scheduler: Scheduler;
  /** Those that lead to it, and that the kernel can serve. */
  readonly listeners: readonly Listener[];
}

const OUTCOMES = { targets: "served", reject: "rejected", drop: "dropped" } as const;

/** A service as the handlers take it: for each of its ports and each type that it has. */
export function serviceInfos(
  source: InfoSource,
  facts: InfoFacts,
): readonly ServiceWithEndpoints[] {
  const { key, entry, listeners } = source;
  const planned = new PortPlans(source, facts);
  const served = new Set<Listener>();
  entry?.service.service.ports.forEach((port, index) => {
    const own = listeners.filter((one) =>
      leadsTo(one, port.name, entry.service.service.ports.length),
    );
    for (const listener of own) served.add(listener);
    planned.addPort(entry, port, index, own);
  });
  const lost = listeners.filter((listener) => !served.has(listener));
  planned.addLost(key, lost);
  return planned.infos;
}

/** An external address before it is known what becomes of calls. */
interface Door {
  readonly kind: EntranceKind;
  readonly protocol: Protocol;
  readonly ip: string;
  readonly port: number;
  readonly access: AccessList | undefined;
}

class PortPlans {
  readonly infos: ServiceWithEndpoints[] = [];
  readonly #source: InfoSource;
  readonly #facts: InfoFacts;
  readonly #balancing: Balancing;
  /** An address of several kinds is what it is first. */
  #taken = new Set<string>();

  constructor(source: InfoSource, facts: InfoFacts) {
    this.#source = source;
    this.#facts = facts;
    const seconds = source.entry?.service.service.affinitySeconds ?? 0;
    this.#balancing = balancingOf(source.scheduler, seconds);
  }

  addPort(
    entry: ServiceEndpoints,
    port: ServicePort,
    index: number,
    listeners: readonly Listener[],
  ): void {
    const { service } = entry.service;
    const { family } = this.#facts.context;
    const outcomes = portOutcomes(entry, index, family);
    const endpoints = endpointInfos(entry, index, family, outcomes);
    const add = (type: ServiceType, entrances: readonly Entrance[]): void => {
      if (entrances.length === 0) return;
      this.infos.push({ service: this.#info(type, port, entrances), endpoints });
    };
    this.#taken = new Set();
    const { node } = this.#facts.context;
    const external = (doors: readonly Door[]): readonly Entrance[] =>
      doors.map((door) => this.#external(door, port, service, outcomes));
    add("ClusterIP", [
      ...this.#free(service.clusterIPs).map((ip) => internal(ip, port, service, outcomes, node)),
      ...external(this.#free(service.externalIPs).map((ip) => doorAt("external-ip", port, ip))),
    ]);
    add("LoadBalancer", external(this.#balancerDoors(service, port)));
    add("NodePort", external(this.#nodePortDoors(port)));
    add("Listener", external(listeners.flatMap((listener) => this.#listenerDoors(listener))));
  }

  /** Listeners whose service, or port of it, does not exist: who calls is told so. */
  addLost(key: string, listeners: readonly Listener[]): void {
    for (const protocol of ["TCP", "UDP"] as const) {
      const entrances = listeners
        .filter((listener) => protocolOf(listener) === protocol)
        .flatMap((listener) => this.#listenerDoors(listener))
        .map((door) =>
          entranceOf(door, this.#facts.context.node, "cluster", "rejected", undefined),
        );
      if (entrances.length === 0) continue;
      const { family } = this.#facts.context;
      const service: ServiceInfo = {
        id: `${family} ${key} ${protocol} Listener without a port`,
        service: key,
        type: "Listener",
        family,
        balancing: this.#balancing,
        entrances,
        healthCheckPort: 0,
      };
      this.infos.push({ service, endpoints: new Map() });
    }
  }

  #info(type: ServiceType, port: ServicePort, entrances: readonly Entrance[]): ServiceInfo {
    const { key, entry } = this.#source;
    const { family } = this.#facts.context;
    const name = port.name === "" ? key : `${key}:${port.name}`;
    const isFirst = this.infos.length === 0;
    return {
      id: `${family} ${name} ${port.protocol} ${type}`,
      service: key,
      type,
      family,
      balancing: this.#balancing,
      entrances,
      healthCheckPort: isFirst ? (entry?.service.service.healthCheckNodePort ?? 0) : 0,
    };
  }

  /** The addresses of this family that are not of another kind already. */
  #free(ips: readonly string[]): readonly string[] {
    const { family } = this.#facts.context;
    const own = this.#served(ips).filter((ip) => familyOf(ip) === family && !this.#taken.has(ip));
    for (const ip of own) this.#taken.add(ip);
    return own;
  }

  #served(ips: readonly string[]): readonly string[] {
    return ips.filter((ip) => !this.#facts.isExcluded(ip));
  }

  #balancerDoors(service: Service, port: ServicePort): readonly Door[] {
    const ips = this.#free(service.loadBalancerIPs);
    const access = sourceRangeAccess(service, ips, this.#facts.context.node);
    return ips.map((ip) => ({ ...doorAt("load-balancer-ip", port, ip), access }));
  }

  #nodePortDoors(port: ServicePort): readonly Door[] {
    if (port.nodePort === 0) return [];
    const ips = hostAddresses(this.#facts.context.nodePortDestinations);
    return this.#served(ips).map((ip) => ({
      ...doorAt("node-port", port, ip),
      port: port.nodePort,
    }));
  }

  #listenerDoors(listener: Listener): readonly Door[] {
    const { context, securityGroups } = this.#facts;
    const { address, port } = listener;
    if (familyOf(address) !== context.family || isLoopback(address)) return [];
    const ips = isWildcard(address) ? hostAddresses(context.everyDestination) : [address];
    const access = listenerAccess(listener, securityGroups);
    const protocol = protocolOf(listener);
    return this.#served(ips).map((ip) => ({ kind: "listen-address", protocol, ip, port, access }));
  }

  #external(door: Door, port: ServicePort, service: Service, outcomes: PortOutcomes): Entrance {
    const { protocol } = port;
    const { node } = this.#facts.context;
    const cluster = outcomes.cluster.kind;
    if (service.externalTrafficPolicy === "Cluster") {
      return entranceOf(door, node, "cluster", OUTCOMES[cluster], undefined);
    }
    const local = outcomes.local.kind;
    const differs = cluster === "targets" || cluster !== local;
    const name = `${port.name} ${protocol}`;
    const mark = differs ? this.#facts.marks.markOf(this.#source.key, name) : undefined;
    return entranceOf(door, node, "local", OUTCOMES[local], mark);
  }
}

function internal(
  ip: string,
  port: ServicePort,
  { internalTrafficPolicy }: Service,
  outcomes: PortOutcomes,
  node: RouteNode,
): Entrance {
  const list = internalTrafficPolicy === "Local" ? "local" : "cluster";
  const door = doorAt("cluster-ip", port, ip);
  return entranceOf(door, node, list, OUTCOMES[outcomes[list].kind], undefined);
}

function doorAt(kind: EntranceKind, { protocol, port }: ServicePort, ip: string): Door {
  return { kind, protocol, ip, port, access: undefined };
}

function entranceOf(
  door: Door,
  node: RouteNode,
  list: Entrance["list"],
  outcome: CallOutcome,
  insideMark: number | undefined,
): Entrance {
  return { ...door, isNodes: node.addresses.includes(door.ip), list, outcome, insideMark };
}

/** Of networks, those that are one address; IPVS sends nothing from loopback to elsewhere. */
export function hostAddresses(networks: readonly string[]): readonly string[] {
  return networks
    .filter((network) => network.endsWith("/32") || network.endsWith("/128"))
    .map((network) => network.slice(0, network.lastIndexOf("/")))
    .filter((ip) => !isLoopback(ip));
}
