import * as z from "zod";
import { type Endpoint, parseEndpoint, renderEndpoint } from "./endpoint.ts";
import type { HcnCalls, HcnKind, HcnNotice, OwnKind } from "./hcn-calls.ts";
import { isNotFound } from "./hcn-failure.ts";
import { guid, parseHcn, SCHEMA_VERSION } from "./hcn-json.ts";
import type { HnsVersion } from "./hns-features.ts";
import { type LoadBalancer, parseLoadBalancer, renderLoadBalancer } from "./load-balancer.ts";
import { type Network, parseNetwork } from "./network.ts";

const idsSchema: z.ZodType<readonly string[]> = z.array(guid);
const versionSchema = z.object({ Major: z.int(), Minor: z.int() });

/** The Host Compute Network in the words of its users, over calls that carry JSON. */
export class Hcn {
  readonly #calls: HcnCalls;

  constructor(calls: HcnCalls) {
    this.#calls = calls;
  }

  async version(): Promise<HnsVersion> {
    const version = parseHcn(versionSchema, await this.#calls.version(), "its version");
    return { major: version.Major, minor: version.Minor };
  }

  /** Undefined where there is no network of that name. */
  async findNetwork(name: string): Promise<Network | undefined> {
    for (const id of await this.#ids("Network", { Name: name })) {
      const network = await this.network(id);
      // An HNS that does not know the filter gives all of them.
      if (network?.name === name) return network;
    }
    return undefined;
  }

  async networkNames(): Promise<readonly string[]> {
    const names: string[] = [];
    for (const id of await this.#ids("Network")) {
      const network = await this.network(id);
      if (network !== undefined) names.push(network.name);
    }
    return names;
  }

  network(id: string): Promise<Network | undefined> {
    return this.#find("Network", id, parseNetwork);
  }

  /** Of all networks: HNS knows no filter for one in schema 2. */
  endpointIds(): Promise<readonly string[]> {
    return this.#ids("Endpoint");
  }

  endpoint(id: string): Promise<Endpoint | undefined> {
    return this.#find("Endpoint", id, parseEndpoint);
  }

  createEndpoint(endpoint: Endpoint): Promise<void> {
    const { id, networkId } = endpoint;
    return this.#calls.create("Endpoint", id, renderEndpoint(endpoint), networkId);
  }

  /** Succeeds where it is not there. */
  deleteEndpoint(id: string): Promise<void> {
    return this.#delete("Endpoint", id);
  }

  loadBalancerIds(): Promise<readonly string[]> {
    return this.#ids("LoadBalancer");
  }

  loadBalancer(id: string): Promise<LoadBalancer | undefined> {
    return this.#find("LoadBalancer", id, parseLoadBalancer);
  }

  createLoadBalancer(balancer: LoadBalancer): Promise<void> {
    return this.#calls.create("LoadBalancer", balancer.id, renderLoadBalancer(balancer));
  }

  modifyLoadBalancer(balancer: LoadBalancer): Promise<void> {
    return this.#calls.modify("LoadBalancer", balancer.id, renderLoadBalancer(balancer));
  }

  /** Succeeds where it is not there. */
  deleteLoadBalancer(id: string): Promise<void> {
    return this.#delete("LoadBalancer", id);
  }

  watch(onNotice: (notice: HcnNotice) => void): Promise<() => Promise<void>> {
    return this.#calls.watch(onNotice);
  }

  close(): Promise<void> {
    return this.#calls.close();
  }

  async #delete(kind: OwnKind, id: string): Promise<void> {
    try {
      await this.#calls.delete(kind, id);
    } catch (error) {
      if (!isNotFound(error, kind)) throw error;
    }
  }

  async #ids(kind: HcnKind, filter: Readonly<Record<string, string>> = {}) {
    return parseHcn(idsSchema, await this.#calls.enumerate(kind, queryOf(filter)), `${kind}s`);
  }

  async #find<T>(kind: HcnKind, id: string, parse: (json: string) => T): Promise<T | undefined> {
    let json: string;
    try {
      json = await this.#calls.query(kind, id, queryOf({}));
    } catch (error) {
      if (isNotFound(error, kind)) return undefined;
      throw error;
    }
    return parse(json);
  }
}

function queryOf(filter: Readonly<Record<string, string>>): string {
  const hasFilter = Object.keys(filter).length > 0;
  return JSON.stringify({
    SchemaVersion: SCHEMA_VERSION,
    Flags: 0,
    ...(hasFilter && { Filter: JSON.stringify(filter) }),
  });
}
