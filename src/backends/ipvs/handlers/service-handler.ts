import type { IpSetEntry } from "../../../wire/netlink/ipset/ip-set.ts";
import { networksFor } from "../../../wire/netlink/ipset/ip-set.ts";
import type { VirtualServer } from "../../../wire/netlink/ipvs/virtual-server.ts";
import { SERVED_SETS, type SetKey } from "../glue/set-names.ts";
import type { EndpointHandlers, Handler, ServiceHandlers } from "../patch/patch.ts";
import type { EndpointInfo, Entrance, ServiceInfo } from "../plan/service-info.ts";
import type { Claimant, Verb } from "./claimant.ts";

const nothing = (): void => undefined;

/** What differs between the types of services. */
export interface HandlerWays {
  /** Whether this machine is given the addresses, which are of nobody else. */
  readonly bindsAddresses: boolean;
  /** Whether there may be addresses that are not for everyone. */
  readonly asksAccess: boolean;
}

/**
 * What all handlers have in common: an entrance is a virtual server, an address of this machine, and
 * the entries of sets by which rules treat its packets. They only claim; the proxier does.
 */
export class ServiceHandler implements Handler {
  readonly #claimant: Claimant;
  readonly #ways: HandlerWays;

  constructor(claimant: Claimant, ways: HandlerWays) {
    this.#claimant = claimant;
    this.#ways = ways;
  }

  get service(): ServiceHandlers {
    return {
      NoOp: nothing,
      Create: (service) => this.#claimService(service, "claim"),
      Update: (service, before) => {
        if (before !== undefined) this.#claimService(before, "release");
        this.#claimService(service, "claim");
      },
      Delete: (service) => this.#claimService(service, "release"),
    };
  }

  get endpoint(): EndpointHandlers {
    return {
      NoOp: nothing,
      Create: (endpoint, service) => this.#claimEndpoint(endpoint, service, "claim"),
      Update: (endpoint, service, before) => {
        if (before !== undefined) this.#claimEndpoint(before, service, "release");
        this.#claimEndpoint(endpoint, service, "claim");
      },
      Delete: (endpoint, service) => this.#claimEndpoint(endpoint, service, "release"),
    };
  }

  #claimService(service: ServiceInfo, verb: Verb): void {
    for (const entrance of service.entrances) this.#claimEntrance(entrance, service, verb);
    for (const server of insideServers(service, this.#claimant)) {
      this.#claimant.server(verb, server);
    }
    const { healthCheckPort: port } = service;
    if (port !== 0) this.#claimant.entry(verb, "healthCheck", { port });
  }

  #claimEntrance(entrance: Entrance, service: ServiceInfo, verb: Verb): void {
    const claimant = this.#claimant;
    const at = callTo(entrance);
    for (const set of setsFor(entrance)) claimant.entry(verb, set, at);
    if (entrance.insideMark !== undefined) {
      claimant.entry(verb, "inside", { ...at, mark: entrance.insideMark });
    }
    const server = serverFor(entrance, service);
    if (hasServer(entrance)) claimant.server(verb, server);
    else claimant.lingering(verb, server);
    if (this.#ways.asksAccess) this.#claimAccess(entrance, verb);
    if (this.#ways.bindsAddresses && !entrance.isNodes) claimant.address(verb, entrance.ip);
  }

  #claimAccess({ access, ...entrance }: Entrance, verb: Verb): void {
    if (access === undefined) return;
    const at = callTo(entrance);
    // It is guarded only while those who may call are known.
    if (verb === "release") this.#claimant.entry(verb, "guarded", at);
    const seen = new Set<string>();
    for (const { network, access: kind, destination } of access.entries) {
      if (destination !== undefined && !isHost(destination, entrance.ip)) continue;
      this.#claimNetwork(at, network, kind === "deny", seen, verb);
    }
    if (access.otherwise === "allow") {
      this.#claimNetwork(at, entrance.ip.includes(":") ? "::/0" : "0.0.0.0/0", false, seen, verb);
    }
    if (verb === "claim") this.#claimant.entry(verb, "guarded", at);
  }

  /** The first who says something of a network decides. */
  #claimNetwork(
    at: IpSetEntry,
    network: string,
    isException: boolean,
    seen: Set<string>,
    verb: Verb,
  ): void {
    for (const second of networksFor(network)) {
      if (seen.has(second)) continue;
      seen.add(second);
      const entry = { ...at, second, ...(isException && { isException }) };
      this.#claimant.entry(verb, "allowed", entry);
    }
  }

  #claimEndpoint(endpoint: EndpointInfo, service: ServiceInfo, verb: Verb): void {
    const { ip, port, protocol, mayCallItself } = endpoint;
    for (const entrance of service.entrances) {
      const weight = entrance.list === "local" ? endpoint.localWeight : endpoint.clusterWeight;
      if (weight === undefined || !hasServer(entrance)) continue;
      this.#claimant.destination(verb, serverFor(entrance, service), { ip, port, weight });
    }
    if (endpoint.clusterWeight !== undefined) {
      for (const server of insideServers(service, this.#claimant)) {
        this.#claimant.destination(verb, server, { ip, port, weight: endpoint.clusterWeight });
      }
    }
    if (mayCallItself) this.#claimant.entry(verb, "loopBack", { ip, protocol, port, second: ip });
  }
}

function callTo({ ip, protocol, port }: Pick<Entrance, "ip" | "protocol" | "port">): IpSetEntry {
  return { ip, protocol, port };
}

/** Where rules find it. */
function setsFor(entrance: Entrance): readonly SetKey[] {
  const { kind, outcome, insideMark } = entrance;
  const [forAll, local] = SERVED_SETS[kind];
  const served = entrance.list === "local" && kind !== "cluster-ip" ? local : forAll;
  if (outcome === "served") return [served];
  if (insideMark === undefined) return [outcome];
  return outcome === "dropped" ? [served, "droppedOutside"] : [served];
}

/** Without a virtual server, a packet comes to the rules that refuse it. */
function hasServer({ outcome, insideMark }: Entrance): boolean {
  return outcome === "served" || (insideMark !== undefined && outcome === "rejected");
}

function serverFor({ protocol, ip, port }: Entrance, service: ServiceInfo): VirtualServer {
  const { family, balancing } = service;
  return { family, place: { protocol, ip, port }, ...balancing };
}

/** Those that insiders are led to by a mark, once for all entrances. */
function insideServers(
  { family, entrances, balancing }: ServiceInfo,
  claimant: Pick<Claimant, "marksOf">,
): readonly VirtualServer[] {
  const marks = new Set(entrances.flatMap(({ insideMark }) => insideMark ?? []));
  return [...marks].flatMap((mark) =>
    claimant.marksOf(mark).map((one) => ({ family, place: { mark: one }, ...balancing })),
  );
}

/** Whether a network is one address. */
function isHost(network: string, ip: string): boolean {
  return network.slice(0, network.lastIndexOf("/")) === ip;
}
