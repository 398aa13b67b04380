import { FAMILIES, familyOf } from "../../core/model/address.ts";
import { EMPTY } from "../../core/model/common.ts";
import { answersNodePorts, type RouteNode } from "../../core/route/route-node.ts";
import type { NodePortAddresses } from "../../core/route/route-policy.ts";
import type { FullState, ServiceEndpoints } from "../../core/sinks/fullstate.ts";

/** What is answered on a health-check node port. */
export interface HealthCheck {
  /** Key of the service. */
  readonly service: string;
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
  /** Endpoints on this node that take new connections. */
  readonly localEndpoints: number;
}

export interface HealthPlan {
  /** Where all of them are listened on. */
  readonly addresses: readonly string[];
  /** By port. */
  readonly checks: ReadonlyMap<number, HealthCheck>;
  readonly notHonoured: readonly string[];
}

const LOOPBACK: readonly string[] = ["127.0.0.1", "::1"];

export function planHealthChecks(
  state: FullState,
  nodeName: string,
  which: NodePortAddresses,
): HealthPlan {
  const checks = new Map<number, HealthCheck>();
  const notHonoured: string[] = [];
  for (const item of state.services.values()) {
    const { key, service } = item.service;
    const { namespace, name, healthCheckNodePort: port } = service;
    if (port === 0) continue;
    const localEndpoints = countLocalEndpoints(item);
    checks.set(port, { service: key, namespace, name, port, localEndpoints });
  }
  const addresses = nodePortAddressesOf(state, nodeName, which);
  if (checks.size > 0 && addresses.length === 0) {
    notHonoured.push(
      `health-check node ports do not answer: the state has no addresses of node ${nodeName}`,
    );
  }
  return { addresses, checks, notHonoured };
}

function nodePortAddressesOf(
  state: FullState,
  name: string,
  which: NodePortAddresses,
): readonly string[] {
  const { addresses = EMPTY, subnets = EMPTY, zone = "" } = state.further.nodes.get(name) ?? {};
  const node: RouteNode = { name, zone, addresses, subnets };
  return [...new Set([...addresses, ...LOOPBACK])].filter((ip) =>
    answersNodePorts(node, which, ip),
  );
}

/** One pod has an endpoint in each family; the family with more of them counts. */
function countLocalEndpoints({ endpoints }: ServiceEndpoints): number {
  const ready = endpoints.filter(({ local, endpoint }) => local && endpoint.ready);
  const ips = new Set(ready.flatMap(({ endpoint }) => endpoint.addresses));
  const counts = FAMILIES.map((family) => [...ips].filter((ip) => familyOf(ip) === family).length);
  return Math.max(...counts);
}
