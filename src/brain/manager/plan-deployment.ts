import { CoreError } from "../../core/errors.ts";
import type { Endpoint } from "../../core/model/endpoint.ts";
import { keyOf } from "../../core/model/object.ts";
import { parseKind } from "../../core/model/parse.ts";
import {
  type EdgeAddress,
  type EdgePolicy,
  groupsOf,
  type Service,
} from "../../core/model/service.ts";
import type { AddressBook, Reservation } from "../allocation/address-book.ts";
import type { LedgerPlan } from "./ledger.ts";
import type { DeployAnswer, DeployRequest, UndeployAnswer, UndeployRequest } from "./messages.ts";

/** What is known when a deployment is planned. */
export interface DeploymentContext {
  /** The service as this manager keeps it. */
  readonly own: Service | undefined;
  /** The same as another source has it, which alone changes it. */
  readonly foreign: Service | undefined;
  /** All instances that are kept, also those of dead nodes. */
  readonly instances: readonly Endpoint[];
  readonly isAlive: (node: string) => boolean;
  readonly zone: string;
  readonly reservation: Reservation;
  readonly book: Pick<AddressBook, "isClaimed" | "isServiceAddress">;
}

/** A service has addresses of each; of `instance` one for each instance. */
const ALL_POLICIES: readonly EdgePolicy[] = ["round-robin", "closest", "instance"];

/** @throws CoreError ERR_KEY_TAKEN, ERR_ADDRESS_TAKEN, ERR_EXHAUSTED, ERR_STATE_INVALID */
export function planDeploy(
  context: DeploymentContext,
  node: string,
  request: DeployRequest,
): LedgerPlan<DeployAnswer> {
  const { service: key, instance } = request;
  const running = context.instances.find((endpoint) => endpoint.instance === instance);
  if (running !== undefined && running.node !== node && context.isAlive(running.node)) {
    throw new CoreError(
      "ERR_KEY_TAKEN",
      `instance ${instance} of ${key} runs on node ${running.node}; expected another number, or its end there`,
    );
  }
  const service = context.foreign ?? ownService(context, request);
  const endpoint = endpointOf(service, node, context.zone, request);
  return {
    change: { set: context.foreign === undefined ? [service, endpoint] : [endpoint] },
    result: { service: key, instance, edgeIPs: service.edgeIPs },
  };
}

/** An instance goes, with its own addresses; a service that deployments made goes with its last one. */
export function planUndeploy(
  { own, instances }: Pick<DeploymentContext, "own" | "instances">,
  node: string,
  { instance }: UndeployRequest,
): LedgerPlan<UndeployAnswer> {
  const gone = instances.find((each) => each.instance === instance && each.node === node);
  if (gone === undefined) return { change: {}, result: { isGone: false } };
  const names = [{ kind: gone.kind, key: keyOf(gone) }];
  const result = { isGone: true };
  if (own === undefined) return { change: { delete: names }, result };
  if (instances.length === 1) {
    return { change: { delete: [...names, { kind: own.kind, key: keyOf(own) }] }, result };
  }
  const edgeIPs = own.edgeIPs.filter((edge) => edge.instance !== instance);
  return { change: { set: [{ ...own, edgeIPs }], delete: names }, result };
}

function ownService(context: DeploymentContext, request: DeployRequest): Service {
  const { own } = context;
  const [namespace, name] = request.service.split("/");
  const { ports } = request;
  return parseKind("Service", {
    ...(own ?? { namespace, name, type: "Plain" }),
    ...(ports && { ports: ports.map((port) => ({ ...port, targetPort: port.port })) }),
    edgeIPs: edgeIPsOf(context, request),
  });
}

/** What it has already, what was asked for, and what is still missing. */
function edgeIPsOf(context: DeploymentContext, request: DeployRequest): readonly EdgeAddress[] {
  const edgeIPs = [...(context.own?.edgeIPs ?? [])];
  const numberOf = (policy: EdgePolicy): number => (policy === "instance" ? request.instance : -1);
  for (const { address, policy } of request.edgeIPs) {
    const edge = { address, policy, instance: numberOf(policy) };
    const held = edgeIPs.find((each) => each.address === address);
    if (held !== undefined && held.policy === policy && held.instance === edge.instance) continue;
    if (!context.book.isServiceAddress(address, policy)) throw outside(address, policy);
    if (held !== undefined || context.book.isClaimed(address))
      throw taken(request.service, address);
    edgeIPs.push(edge);
  }
  const asked = new Set(request.edgeIPs.map(({ policy }) => policy));
  for (const policy of ALL_POLICIES) {
    const instance = numberOf(policy);
    const isThere = edgeIPs.some((edge) => edge.policy === policy && edge.instance === instance);
    // Who says the addresses of a policy says all of them.
    if (isThere || asked.has(policy)) continue;
    const given = context.reservation.serviceAddresses(policy);
    edgeIPs.push(...given.map((address) => ({ address, policy, instance })));
  }
  return edgeIPs;
}

function outside(address: string, policy: EdgePolicy): CoreError {
  return new CoreError(
    "ERR_STATE_INVALID",
    `edgeIPs: ${address} lies in no range of this manager for policy ${policy}; expected one that does, or none to be given one`,
  );
}

function taken(service: string, address: string): CoreError {
  return new CoreError(
    "ERR_ADDRESS_TAKEN",
    `edgeIPs: ${address} can not be an address of ${service}: something else has it; expected another one, or none to be given one`,
  );
}

function endpointOf(
  service: Service,
  node: string,
  zone: string,
  request: DeployRequest,
): Endpoint {
  const [group] = groupsOf(service);
  const [namespace, name] = (group?.group ?? request.service).split("/");
  const { instance, addresses, ready, weight, needs, labels } = request;
  return parseKind("Endpoint", {
    namespace,
    name: `${name}-${instance}`,
    group: name,
    addresses,
    node,
    zone,
    ready,
    serving: ready,
    weight,
    instance,
    needs,
    labels,
  });
}
