import { canonicalIp, cidrContains, parseCidr } from "../../core/model/address.ts";
import type { Endpoint } from "../../core/model/endpoint.ts";
import type { Node, Tunnel } from "../../core/model/node.ts";
import { groupKeyOf, type ModelObject } from "../../core/model/object.ts";
import {
  type EdgeAddress,
  groupsOf,
  type Service,
  type ServicePort,
} from "../../core/model/service.ts";
import type { GlobalStore } from "../../core/store/global-store.ts";

/** An instance, and where packets for it go. */
export interface TableInstance {
  readonly instance: number;
  readonly name: string;
  readonly addresses: readonly string[];
  readonly node: string;
  /** Missing where its node has none, or is not known. */
  readonly tunnel?: Tunnel;
  readonly ready: boolean;
  readonly weight: number;
}

export interface TableService {
  readonly service: string;
  readonly edgeIPs: readonly EdgeAddress[];
  readonly ports: readonly ServicePort[];
  readonly instances: readonly TableInstance[];
}

export interface TableNode {
  readonly node: string;
  readonly isAlive: boolean;
  readonly addresses: readonly string[];
  readonly subnets: readonly string[];
  readonly tunnel?: Tunnel;
}

/** What a name or an address means; empty where it means nothing. */
export interface TableAnswer {
  readonly services: readonly TableService[];
  readonly nodes: readonly TableNode[];
}

/** Finds services, instances and nodes by name and by address, also among very many. */
export class Table {
  readonly #store: GlobalStore;
  /** Keys of services, by what leads to them: their names and addresses, and addresses of their groups. */
  readonly #services = new Map<string, Map<string, number>>();
  readonly #groups = new Map<string, Map<string, number>>();

  constructor(store: GlobalStore) {
    this.#store = store;
    for (const service of store.objects("Service")) this.#count(service, 1);
    for (const endpoint of store.objects("Endpoint")) this.#count(endpoint, 1);
    store.onCommit(({ changes }) => {
      for (const { before, after } of changes) {
        if (before !== undefined) this.#count(before, -1);
        if (after !== undefined) this.#count(after, 1);
      }
    });
  }

  /** @param query an address; a service as NAMESPACE/NAME, NAME.NAMESPACE or NAME; or a node */
  find(query: string): TableAnswer {
    const ip = canonicalIp(query);
    const word = ip ?? (this.#services.has(query) ? query : query.toLowerCase());
    const keys = new Set(this.#services.get(word)?.keys());
    for (const group of this.#groups.get(word)?.keys() ?? []) {
      for (const key of this.#services.get(`group ${group}`)?.keys() ?? []) keys.add(key);
    }
    const services = [...keys].sort().flatMap((key) => this.#service(key) ?? []);
    return { services, nodes: ip === undefined ? this.#named(query) : this.#around(ip) };
  }

  #service(key: string): TableService | undefined {
    const state = this.#store.state().services.get(key);
    if (state === undefined) return undefined;
    const { edgeIPs, ports } = state.service;
    const endpoints = state.groups.flatMap((group) => group.state.endpoints);
    return {
      service: key,
      edgeIPs,
      ports,
      instances: endpoints.map((each) => this.#instance(each)),
    };
  }

  #instance({ instance, name, addresses, node, ready, weight }: Endpoint): TableInstance {
    const tunnel = this.#store.get("Node", node)?.tunnel;
    return { instance, name, addresses, node, ...(tunnel && { tunnel }), ready, weight };
  }

  #named(name: string): readonly TableNode[] {
    const node = this.#store.get("Node", name);
    return node === undefined ? [] : [rowOf(node)];
  }

  #around(ip: string): readonly TableNode[] {
    const rows: TableNode[] = [];
    for (const node of this.#store.state().nodes.values()) {
      const isIn = (subnet: string): boolean => {
        const cidr = parseCidr(subnet);
        return cidr !== undefined && cidrContains(cidr, ip);
      };
      if (node.addresses.includes(ip) || node.subnets.some(isIn)) rows.push(rowOf(node));
    }
    return rows;
  }

  #count(object: ModelObject, by: 1 | -1): void {
    if (object.kind === "Service") {
      const key = `${object.namespace}/${object.name}`;
      for (const word of wordsOf(object, key)) add(this.#services, word, key, by);
    } else if (object.kind === "Endpoint") {
      for (const ip of object.addresses) add(this.#groups, ip, groupKeyOf(object), by);
    }
  }
}

function wordsOf(service: Service, key: string): readonly string[] {
  const { name, namespace, edgeIPs, clusterIPs } = service;
  const words = [key, name, `${name}.${namespace}`, ...clusterIPs];
  const groups = groupsOf(service).map(({ group }) => `group ${group}`);
  // Names of hosts are asked for in lower case.
  const named = new Set([...words, ...words.map((word) => word.toLowerCase())]);
  return [...named, ...edgeIPs.map(({ address }) => address), ...groups];
}

function rowOf({ name, alive, addresses, subnets, tunnel }: Node): TableNode {
  return { node: name, isAlive: alive, addresses, subnets, ...(tunnel && { tunnel }) };
}

function add(index: Map<string, Map<string, number>>, word: string, key: string, by: 1 | -1): void {
  const keys = index.get(word) ?? new Map<string, number>();
  const count = (keys.get(key) ?? 0) + by;
  if (count > 0) keys.set(key, count);
  else keys.delete(key);
  if (keys.size > 0) index.set(word, keys);
  else index.delete(word);
}
