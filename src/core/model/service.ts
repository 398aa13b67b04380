import * as z from "zod";
import { familyOf } from "./address.ts";
import {
  cidrSchema,
  EMPTY,
  ipSchema,
  keySchema,
  type Metadata,
  metadataFields,
  optionalPortSchema,
  type Protocol,
  portSchema,
  protocolSchema,
} from "./common.ts";
import { routeHintsSchema } from "./group.ts";
import { NO_HINTS, type RouteHints } from "./route-hints.ts";

export type TrafficPolicy = "Cluster" | "Local";

/** Kubernetes' words; `Plain` is a service that only listeners and edge addresses lead to. */
export type ServiceType = "ClusterIP" | "NodePort" | "LoadBalancer" | "Plain";

export interface ServicePort {
  /** Unique among the ports of the service; may be empty when there is only one. */
  readonly name: string;
  readonly protocol: Protocol;
  readonly port: number;
  /** 0 where the service has no node port. */
  readonly nodePort: number;
  /** The port of endpoints that do not say their own; 0 where it has a name or endpoints say it. */
  readonly targetPort: number;
  readonly targetPortName: string;
}

export type EdgePolicy = "round-robin" | "closest" | "instance";

/** An address of the edge overlay: which instance it means is part of the address. */
export interface EdgeAddress {
  readonly address: string;
  readonly policy: EdgePolicy;
  /** The instance that policy `instance` means; -1 for the other policies. */
  readonly instance: number;
}

/** A group that a service sends to. */
export interface GroupRef {
  /** Key of the group. */
  readonly group: string;
  readonly weight: number;
  readonly hints: RouteHints;
}

/**
 * What clients call. Its listen addresses are the `Listener` objects that name it.
 */
export interface Service extends Metadata {
  readonly kind: "Service";
  readonly type: ServiceType;
  readonly clusterIPs: readonly string[];
  readonly externalIPs: readonly string[];
  readonly loadBalancerIPs: readonly string[];
  readonly edgeIPs: readonly EdgeAddress[];
  readonly ports: readonly ServicePort[];
  readonly internalTrafficPolicy: TrafficPolicy;
  readonly externalTrafficPolicy: TrafficPolicy;
  /** Seconds that a client stays with its endpoint; 0 for no affinity. */
  readonly affinitySeconds: number;
  /** Who may use the load-balancer addresses; empty for everyone. */
  readonly sourceRanges: readonly string[];
  /** 0 where there is none. */
  readonly healthCheckNodePort: number;
  /** As Kubernetes spells it (`PreferSameZone`); told to people, already turned into hints. */
  readonly trafficDistribution: string;
  /** Empty: the group of the same key, which need not exist as an object. */
  readonly groups: readonly GroupRef[];
}

const servicePortSchema = z.strictObject({
  name: z.string().default(""),
  protocol: protocolSchema.default("TCP"),
  port: portSchema,
  nodePort: optionalPortSchema.default(0),
  targetPort: optionalPortSchema.default(0),
  targetPortName: z.string().default(""),
});

const edgeAddressSchema = z.strictObject({
  address: ipSchema,
  policy: z.enum(["round-robin", "closest", "instance"]).default("round-robin"),
  instance: z.int().min(-1).default(-1),
});

const policySchema = z.enum(["Cluster", "Local"]).default("Cluster");

export const serviceSchema: z.ZodType<Service> = z
  .strictObject({
    kind: z.literal("Service"),
    ...metadataFields,
    type: z.enum(["ClusterIP", "NodePort", "LoadBalancer", "Plain"]).default("ClusterIP"),
    clusterIPs: z.array(ipSchema).default([]),
    externalIPs: z.array(ipSchema).default([]),
    loadBalancerIPs: z.array(ipSchema).default([]),
    edgeIPs: z.array(edgeAddressSchema).default([]),
    ports: z.array(servicePortSchema).default([]),
    internalTrafficPolicy: policySchema,
    externalTrafficPolicy: policySchema,
    affinitySeconds: z.int().min(0).max(86_400).default(0),
    sourceRanges: z.array(cidrSchema).default([]),
    healthCheckNodePort: optionalPortSchema.default(0),
    trafficDistribution: z.string().default(""),
    groups: z
      .array(
        z.strictObject({
          group: keySchema,
          weight: z.int().min(0).max(65_535).default(1),
          hints: routeHintsSchema.default(NO_HINTS),
        }),
      )
      .default([]),
  })
  .superRefine(checkService);

/** What is right where a service has a group twice. */
export const EACH_GROUP_ONCE = "a group that the service does not have already";

/** What one field alone can not show. */
function checkService(service: Service, context: z.RefinementCtx): void {
  const names = new Set<string>();
  const numbers = new Set<string>();
  service.ports.forEach((port, index) => {
    const at = (field: string, message: string) =>
      context.addIssue({ code: "custom", path: ["ports", index, field], message });
    if (names.has(port.name)) at("name", "a name that no other port of the service has");
    const number = `${port.protocol}/${port.port}`;
    if (numbers.has(number)) at("port", `only one port entry for ${number}`);
    names.add(port.name);
    numbers.add(number);
  });
  const groups = new Set<string>();
  service.groups.forEach(({ group }, index) => {
    if (groups.has(group)) {
      context.addIssue({
        code: "custom",
        path: ["groups", index, "group"],
        message: EACH_GROUP_ONCE,
      });
    }
    groups.add(group);
  });
  service.edgeIPs.forEach((edge, index) => {
    if ((edge.policy === "instance") === edge.instance >= 0) return;
    context.addIssue({
      code: "custom",
      path: ["edgeIPs", index, "instance"],
      message: "an instance number with policy instance, and only with it",
    });
  });
}

/** The groups of a service, the implicit one of its own name where it names none. */
export function groupsOf(service: Service): readonly GroupRef[] {
  if (service.groups.length > 0) return service.groups;
  return [{ group: `${service.namespace}/${service.name}`, weight: 1, hints: NO_HINTS }];
}

/** Whether anything outside the cluster can call it, in the sense of kube-proxy. */
export function isExternallyReachable(service: Service): boolean {
  return (
    service.externalIPs.length > 0 ||
    service.loadBalancerIPs.length > 0 ||
    service.ports.some((port) => port.nodePort !== 0)
  );
}

/** The source ranges of one family; empty where everyone of that family may come. */
export function sourceRangesFor(service: Service, ip: string): readonly string[] {
  const family = familyOf(ip);
  const ranges = service.sourceRanges.filter((range) => familyOf(range) === family);
  return ranges.some((range) => range.endsWith("/0")) ? EMPTY : ranges;
}
