import { FAMILIES, type Family, familyOf } from "../../core/model/address.ts";
import { EMPTY } from "../../core/model/common.ts";
import type { Service, ServicePort } from "../../core/model/service.ts";
import type { DeleteOp, NodeEndpoint, NodeEndpointPort, SetOp } from "../../core/view/ops.ts";
import type { EndpointMessage } from "../../wire/sets/endpoint-reader.ts";
import { endpointOf } from "../../wire/sets/endpoint-value.ts";
import { parseGroupKey, splitPath } from "../../wire/sets/node-values.ts";
import type { NodeItem } from "./node-items.ts";

type EndpointSet = Extract<SetOp, { set: "endpoints" }>;

const ANONYMOUS_NAME = /^[0-9a-f]{1,16}$/;

/**
 * Makes sense of what a KPNG server sends: it resolves no ports, says nothing of lists and families,
 * and may send endpoints before or without their service. Such endpoints are held until it comes.
 */
export class OldServerView {
  readonly #nodeName: string;
  readonly #services = new Map<string, Service>();
  readonly #endpoints = new Map<string, Map<string, EndpointMessage>>();
  readonly #sent = new Map<string, ReadonlySet<string>>();

  constructor(nodeName: string) {
    this.#nodeName = nodeName;
  }

  /** The operations that a change amounts to; those of a service that was touched are said again. */
  translate(items: readonly NodeItem[], isReset: boolean): readonly (SetOp | DeleteOp)[] {
    if (isReset) {
      this.#services.clear();
      this.#endpoints.clear();
      this.#sent.clear();
    }
    const touched = new Set<string>();
    const ops: (SetOp | DeleteOp)[] = [];
    for (const item of items) {
      const key = this.#take(item);
      if (key !== undefined) touched.add(key);
      else if (item.op === "set" || item.op === "delete") ops.push(item);
    }
    for (const key of touched) ops.push(...this.#opsOf(key));
    return ops;
  }

  /** The service that the item concerns, or undefined where it is nothing of an old server's. */
  #take(item: NodeItem): string | undefined {
    if (item.op === "old-service") {
      this.#services.set(item.path, item.message.service);
      return item.path;
    }
    if (item.op === "old-endpoint") {
      const key = item.path.slice(0, splitPath(item.path));
      const endpoints = this.#endpoints.get(key) ?? new Map<string, EndpointMessage>();
      this.#endpoints.set(key, endpoints.set(item.path, item.message));
      return key;
    }
    if (item.op !== "delete") return undefined;
    if (item.set === "services") return this.#services.delete(item.path) ? item.path : undefined;
    if (item.set !== "endpoints") return undefined;
    const key = item.path.slice(0, splitPath(item.path));
    return this.#endpoints.get(key)?.delete(item.path) === true ? key : undefined;
  }

  #opsOf(key: string): readonly (SetOp | DeleteOp)[] {
    const service = this.#services.get(key);
    const before = this.#sent.get(key);
    const sets = service === undefined ? [] : this.#endpointSets(key, service);
    const now = new Set(sets.map((op) => op.path));
    const deletes = [...(before ?? [])]
      .filter((path) => !now.has(path))
      .map((path): DeleteOp => ({ op: "delete", set: "endpoints", path }));
    if (service === undefined) {
      this.#sent.delete(key);
      if (before !== undefined) deletes.push({ op: "delete", set: "services", path: key });
      return deletes;
    }
    this.#sent.set(key, now);
    const usable = service.ports.map((port) => usableFamilies(port, sets));
    const value = { key, service, usable };
    return [{ op: "set", set: "services", path: key, value }, ...sets, ...deletes];
  }

  #endpointSets(key: string, service: Service): EndpointSet[] {
    const sets: EndpointSet[] = [];
    for (const [path, message] of this.#endpoints.get(key) ?? []) {
      const ports = portsOf(service, message);
      if (ports.length === 0) continue;
      const value = this.#nodeEndpoint(key, path, message, ports);
      sets.push({ op: "set", set: "endpoints", path, value });
    }
    return sets;
  }

  #nodeEndpoint(
    service: string,
    path: string,
    message: EndpointMessage,
    ports: readonly NodeEndpointPort[],
  ): NodeEndpoint {
    const name = path.slice(service.length + 1);
    const said = {
      ...message,
      podName: ANONYMOUS_NAME.test(name) ? "" : name,
      node: message.local ? this.#nodeName : "",
      // The host name of a pod is nothing to be resolved where its addresses are known.
      hostName: message.addresses.length > 0 ? "" : message.hostName,
    };
    const key = parseGroupKey(service);
    const endpoint = endpointOf({ namespace: key.namespace, group: key.name, name }, said);
    return { path, service, group: service, endpoint, local: message.local, ports };
  }
}

/** How an endpoint serves the ports of its service, and in which lists it stands by its scopes. */
function portsOf(service: Service, message: EndpointMessage): readonly NodeEndpointPort[] {
  const { internal, external } = message.scopes;
  if (!internal && !external) return EMPTY;
  const families = FAMILIES.filter((family) =>
    message.addresses.some((ip) => familyOf(ip) === family),
  );
  return service.ports.flatMap((port) => {
    const target = oldTargetPort(port, message);
    if (target === undefined || families.length === 0) return [];
    const localFor = message.local ? families : EMPTY;
    return [{ name: port.name, target, clusterFor: families, localFor }];
  });
}

/** The rule of KPNG, `Endpoint.PortMapping`. */
function oldTargetPort(port: ServicePort, message: EndpointMessage): number | undefined {
  const wanted = port.name === "" ? port.targetPortName : port.name;
  if (wanted !== "") return message.portOverrides.find(({ name }) => name === wanted)?.port;
  return port.targetPort === 0 ? undefined : port.targetPort;
}

/** Old servers do not tell "none anywhere" from "none here": what was sent is all that is known. */
function usableFamilies(port: ServicePort, endpoints: readonly EndpointSet[]): readonly Family[] {
  return FAMILIES.filter((family) =>
    endpoints.some(({ value }) =>
      value.ports.some((used) => used.name === port.name && used.clusterFor.includes(family)),
    ),
  );
}
