import * as z from "zod";
import { messageOf } from "../../core/errors.ts";
import { canonicalIp, cidrContains, familyOf, parseCidr } from "../../core/model/address.ts";
import { type Endpoint, parseEndpoint } from "./endpoint.ts";
import type { HcnCalls, HcnKind, HcnNotice, OwnKind } from "./hcn-calls.ts";
import { HRESULT, hcnError } from "./hcn-failure.ts";
import { featuresOf, type HnsVersion, NEWEST_HNS } from "./hns-features.ts";
import { type LoadBalancer, parseLoadBalancer } from "./load-balancer.ts";
import { type Network, parseNetwork, subnetsOf } from "./network.ts";

const querySchema = z.object({ Filter: z.string().optional() });
const filterSchema = z.record(z.string(), z.string());
/** What HNS can look for: its filters do not know the names of schema 2, such as HostComputeNetwork. */
const FILTERED: ReadonlySet<string> = new Set(["ID", "Name"]);

/**
 * A Host Compute Network in memory. It keeps JSON as it came, and refuses what the real one refuses: ids
 * that are not there, addresses outside of the network, an address and port that is taken.
 */
export class FakeHcn implements HcnCalls {
  readonly #objects: Readonly<Record<HcnKind, Map<string, string>>> = {
    Network: new Map(),
    Endpoint: new Map(),
    LoadBalancer: new Map(),
  };
  readonly #watchers = new Set<(notice: HcnNotice) => void>();
  /** Whose address and port it is: `tcp 10.0.0.1 80` to the id of a load balancer. */
  readonly #frontends = new Map<string, string>();
  readonly #version: HnsVersion;
  isRunning = true;

  constructor(version: HnsVersion = NEWEST_HNS) {
    this.#version = version;
  }

  /** Puts something in that somebody else made; nothing is checked. */
  seed(kind: HcnKind, id: string, json: string): void {
    this.#put(kind, id, json);
    if (kind === "Network") this.notify("network-created");
  }

  /** Somebody else removes a network: its endpoints go with it, load balancers stay. */
  removeNetwork(id: string): void {
    this.#objects.Network.delete(id);
    for (const [endpointId, json] of this.#objects.Endpoint) {
      if (parseEndpoint(json).networkId === id) this.#objects.Endpoint.delete(endpointId);
    }
    this.notify("network-deleted");
  }

  /** What it holds of a kind, by id. */
  all(kind: HcnKind): ReadonlyMap<string, string> {
    return this.#objects[kind];
  }

  /** Somebody else removes something. */
  remove(kind: HcnKind, id: string): void {
    if (kind === "LoadBalancer") this.#freeFrontends(id);
    this.#objects[kind].delete(id);
  }

  /** It ends and begins anew: load balancers are gone, and so is who was told of changes. */
  restart(): void {
    for (const id of [...this.#objects.LoadBalancer.keys()]) this.remove("LoadBalancer", id);
    const told = [...this.#watchers];
    this.#watchers.clear();
    for (const watcher of told) watcher({ what: "service-gone" });
  }

  notify(what: HcnNotice["what"]): void {
    for (const watcher of this.#watchers) watcher({ what });
  }

  async version(): Promise<string> {
    this.#checkRunning("HNSCall");
    return JSON.stringify({ Major: this.#version.major, Minor: this.#version.minor });
  }

  async enumerate(kind: HcnKind, query: string): Promise<string> {
    this.#checkRunning(`HcnEnumerate${kind}s`);
    const { Filter = "{}" } = querySchema.parse(JSON.parse(query));
    const filter = Object.entries(filterSchema.parse(JSON.parse(Filter)));
    const matches = (json: string): boolean => {
      if (filter.length === 0) return true;
      const fields = z.record(z.string(), z.unknown()).parse(JSON.parse(json));
      return filter.every(([field, value]) => FILTERED.has(field) && fields[field] === value);
    };
    const ids = [...this.#objects[kind]].filter(([, json]) => matches(json)).map(([id]) => id);
    return JSON.stringify(ids);
  }

  async query(kind: HcnKind, id: string, _query: string): Promise<string> {
    const json = this.#existing(`HcnOpen${kind}`, kind, id);
    return json;
  }

  async create(kind: OwnKind, id: string, settings: string, networkId = ""): Promise<void> {
    const call = `HcnCreate${kind}`;
    this.#checkRunning(call);
    const refuse = (hresult: number): never => {
      throw hcnError(call, hresult, { subject: id });
    };
    if (this.#objects[kind].has(id)) refuse(HRESULT.exists);
    if (kind === "Endpoint") {
      const network = this.#objects.Network.get(networkId) ?? refuse(HRESULT.networkNotFound);
      const endpoint = this.#read(call, settings, parseEndpoint);
      const problem = endpointProblem(endpoint, parseNetwork(network));
      if (problem !== undefined) refuse(problem);
      this.#put(kind, id, withFields(settings, { ID: id, HostComputeNetwork: networkId }));
      return;
    }
    this.#checkLoadBalancer(call, id, this.#read(call, settings, parseLoadBalancer));
    this.#put(kind, id, withFields(settings, { ID: id }));
  }

  async modify(kind: "LoadBalancer", id: string, settings: string): Promise<void> {
    const call = `HcnModify${kind}`;
    this.#existing(call, kind, id);
    if (!featuresOf(this.#version).modifyLoadBalancer) {
      throw hcnError(call, HRESULT.unsupported, { subject: id });
    }
    this.#checkLoadBalancer(call, id, this.#read(call, settings, parseLoadBalancer));
    this.#freeFrontends(id);
    this.#put(kind, id, withFields(settings, { ID: id }));
  }

  async delete(kind: OwnKind, id: string): Promise<void> {
    this.#existing(`HcnDelete${kind}`, kind, id);
    this.remove(kind, id);
  }

  async watch(onNotice: (notice: HcnNotice) => void): Promise<() => Promise<void>> {
    this.#checkRunning("HcnRegisterServiceCallback");
    this.#watchers.add(onNotice);
    return async () => void this.#watchers.delete(onNotice);
  }

  async close(): Promise<void> {
    this.#watchers.clear();
  }

  #put(kind: HcnKind, id: string, json: string): void {
    this.#objects[kind].set(id, json);
    if (kind !== "LoadBalancer") return;
    for (const frontend of frontendsOf(parseLoadBalancer(json))) this.#frontends.set(frontend, id);
  }

  #freeFrontends(id: string): void {
    const json = this.#objects.LoadBalancer.get(id);
    if (json === undefined) return;
    for (const frontend of frontendsOf(parseLoadBalancer(json))) this.#frontends.delete(frontend);
  }

  #existing(call: string, kind: HcnKind, id: string): string {
    this.#checkRunning(call);
    const json = this.#objects[kind].get(id);
    if (json !== undefined) return json;
    throw hcnError(call, NOT_FOUND[kind], { subject: id });
  }

  #checkRunning(call: string): void {
    if (!this.isRunning) throw hcnError(call, HRESULT.unknownInterface);
  }

  #read<T>(call: string, settings: string, parse: (json: string) => T): T {
    try {
      return parse(settings);
    } catch (error) {
      const record = messageOf(error);
      throw hcnError(call, HRESULT.invalidJson, { record });
    }
  }

  #checkLoadBalancer(call: string, id: string, balancer: LoadBalancer): void {
    const { endpoints, portMappings } = balancer;
    const refuse = (hresult: number): never => {
      throw hcnError(call, hresult, { subject: id });
    };
    if (endpoints.length === 0 || portMappings.length === 0) refuse(HRESULT.invalidParameter);
    for (const endpoint of endpoints) {
      if (!this.#objects.Endpoint.has(endpoint)) refuse(HRESULT.endpointNotFound);
    }
    for (const vip of balancer.frontendVips) {
      const ip = canonicalIp(vip) ?? refuse(HRESULT.invalidAddress);
      if ((familyOf(ip) === "v6") !== balancer.isIpv6) refuse(HRESULT.invalidAddress);
    }
    for (const frontend of frontendsOf(balancer)) {
      if ((this.#frontends.get(frontend) ?? id) !== id) refuse(HRESULT.portExists);
    }
  }
}

const NOT_FOUND: Readonly<Record<HcnKind, number>> = {
  Network: HRESULT.networkNotFound,
  Endpoint: HRESULT.endpointNotFound,
  LoadBalancer: HRESULT.policyNotFound,
};

/** A remote endpoint stands for an address elsewhere: only its family has to be one of the network. */
function endpointProblem({ addresses, isRemote }: Endpoint, network: Network): number | undefined {
  const subnets = subnetsOf(network).flatMap((prefix) => parseCidr(prefix) ?? []);
  if (addresses.length === 0) return HRESULT.invalidParameter;
  for (const { address } of addresses) {
    const ip = canonicalIp(address);
    if (ip === undefined) return HRESULT.invalidAddress;
    const holds = subnets.some((subnet) =>
      isRemote ? subnet.family === familyOf(ip) : cidrContains(subnet, ip),
    );
    if (!holds) return HRESULT.invalidAddress;
  }
  return undefined;
}

/** Address and port that nobody else may have: `TCP v4 10.0.0.1 80`. */
function frontendsOf({ frontendVips, portMappings, isIpv6 }: LoadBalancer): readonly string[] {
  const vips = frontendVips.length === 0 ? ["*"] : frontendVips;
  return portMappings.flatMap(({ protocol, externalPort }) =>
    vips.map((vip) => `${protocol} ${isIpv6 ? "v6" : "v4"} ${vip} ${externalPort}`),
  );
}

function withFields(json: string, fields: Readonly<Record<string, string>>): string {
  return JSON.stringify({
    ...z.record(z.string(), z.unknown()).parse(JSON.parse(json)),
    ...fields,
  });
}
