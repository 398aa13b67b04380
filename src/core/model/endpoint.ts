import * as z from "zod";
import { FAMILIES, type Family, isHostName } from "./address.ts";
import {
  EMPTY,
  ipSchema,
  keySchema,
  type Metadata,
  metadataFields,
  nameSchema,
  type Protocol,
  portSchema,
  protocolSchema,
} from "./common.ts";
import type { ServicePort } from "./service.ts";
import { isGoodSocketPath, isSocketPath, SOCKET_PATH_FORM } from "./socket-path.ts";

export interface EndpointPort {
  /** The name of the service port that it serves. */
  readonly name: string;
  readonly port: number;
  /** Only for service ports of that protocol; missing: for any. */
  readonly protocol?: Protocol | undefined;
}

/** Which nodes and zones should use an endpoint; empty where it does not matter. */
export interface TopologyHints {
  readonly zones: readonly string[];
  readonly nodes: readonly string[];
}

export const NO_TOPOLOGY: TopologyHints = { zones: EMPTY, nodes: EMPTY };

/** Stands between the name of an endpoint and its group where both are told; in no name. */
export const GROUP_MARK = "@@";

/** A server of a group. */
export interface Endpoint extends Metadata {
  readonly kind: "Endpoint";
  /** Name of the group in the same namespace. */
  readonly group: string;
  /** The pod behind it; empty where there is none or it is not known. */
  readonly podName: string;
  /** The object that it was read from, such as an EndpointSlice; empty where it stands by itself. */
  readonly source: string;
  /** Canonical addresses, at most one of each family in use; empty where only `hostName` is known. */
  readonly addresses: readonly string[];
  /**
   * A name that the data plane resolves, or the path of a unix socket of its node (of every node, where
   * it names none); empty where `addresses` says it.
   */
  readonly hostName: string;
  /** Of a host name: the families whose addresses are wanted; empty: all. */
  readonly families: readonly Family[];
  /** Empty: the target ports of the service. */
  readonly ports: readonly EndpointPort[];
  readonly node: string;
  readonly zone: string;
  readonly hints: TopologyHints;
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  /** Share of the traffic within its group; 0 drains. */
  readonly weight: number;
  /** Number among the instances of an edge service; -1 where it has none. */
  readonly instance: number;
  /** Keys of the services whose routes must be there before it starts. */
  readonly needs: readonly string[];
}

export const endpointSchema: z.ZodType<Endpoint> = z
  .strictObject({
    kind: z.literal("Endpoint"),
    ...metadataFields,
    name: nameSchema.refine((name) => !name.includes(GROUP_MARK), `a name without ${GROUP_MARK}`),
    group: nameSchema,
    podName: z.string().default(""),
    source: z.string().default(""),
    addresses: z.array(ipSchema).max(16).default([]),
    hostName: z
      .string()
      .refine(
        (text) => text === "" || isHostName(text) || isGoodSocketPath(text),
        `a host name, or ${SOCKET_PATH_FORM}`,
      )
      .default(""),
    families: z
      .array(z.enum(FAMILIES))
      .transform((families) => (new Set(families).size === 1 ? families.slice(0, 1) : []))
      .default([]),
    ports: z
      .array(
        z.strictObject({
          name: z.string().default(""),
          port: portSchema,
          protocol: protocolSchema.optional(),
        }),
      )
      .default([]),
    node: z.string().default(""),
    zone: z.string().default(""),
    hints: z
      .strictObject({
        zones: z.array(z.string()).default([]),
        nodes: z.array(z.string()).default([]),
      })
      .prefault({}),
    ready: z.boolean().default(true),
    serving: z.boolean().default(true),
    terminating: z.boolean().default(false),
    weight: z.int().min(0).max(65_535).default(1),
    instance: z.int().min(-1).default(-1),
    needs: z.array(keySchema).default([]),
  })
  .refine((endpoint) => endpoint.addresses.length > 0 || endpoint.hostName !== "", {
    path: ["addresses"],
    message: "at least one address, or a hostName",
  })
  .refine((endpoint) => endpoint.families.length === 0 || isResolved(endpoint), {
    path: ["families"],
    message: "families of a host name; an address has its own, and a unix socket none",
  })
  .refine((endpoint) => !isSocketPath(endpoint.hostName) || endpoint.addresses.length === 0, {
    path: ["addresses"],
    message: "none beside the path of a unix socket",
  })
  .refine((endpoint) => !isSocketPath(endpoint.hostName) || endpoint.ports.length === 0, {
    path: ["ports"],
    message: "none for a unix socket, which serves every TCP port of its service",
  });

function isResolved({ hostName }: Endpoint): boolean {
  return hostName !== "" && !isSocketPath(hostName);
}

/**
 * The port on which `endpoint` serves `port`, or undefined where it does not. A port of the endpoint
 * with the service port's name decides; one with the name of the target port only where the service
 * port has no name. A port that says a protocol is for that alone, as in an EndpointSlice. The numeric
 * target port is for endpoints that say no ports. A unix socket has none: it serves whatever is TCP.
 */
export function resolveTargetPort(endpoint: Endpoint, port: ServicePort): number | undefined {
  const { ports } = endpoint;
  if (isSocketPath(endpoint.hostName)) return port.protocol === "TCP" ? port.port : undefined;
  for (const own of ports) if (own.name === port.name && isFor(own, port)) return own.port;
  if (ports.length === 0) return port.targetPort === 0 ? undefined : port.targetPort;
  if (port.name !== "" || port.targetPortName === "") return undefined;
  return ports.find((own) => own.name === port.targetPortName && isFor(own, port))?.port;
}

function isFor({ protocol }: EndpointPort, port: ServicePort): boolean {
  return protocol === undefined || protocol === port.protocol;
}

/** Which of two records of one address counts: the one that does not end, then the one that is ready. */
export function supersedes(endpoint: Endpoint, other: Endpoint): boolean {
  if (endpoint.terminating !== other.terminating) return other.terminating;
  return endpoint.ready && !other.ready;
}
