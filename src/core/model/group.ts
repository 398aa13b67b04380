import * as z from "zod";
import { keySchema, type Metadata, metadataFields, optionalPortSchema } from "./common.ts";
import { MAX_PEERS } from "./peer-pattern.ts";
import { peerPatternSchema } from "./peer-pattern-schema.ts";
import { NO_HINTS, type RouteHints } from "./route-hints.ts";

export const BALANCING_METHODS = [
  "random",
  "round-robin",
  "weighted-round-robin",
  "least-connections",
  "source-hash",
  "least-latency",
] as const;

export type BalancingMethod = (typeof BALANCING_METHODS)[number];

/** As people who know other balancers type them. */
export const METHOD_SHORTS: Readonly<Record<string, BalancingMethod>> = Object.freeze({
  wrr: "weighted-round-robin",
  wlc: "least-connections",
  source: "source-hash",
  rr: "round-robin",
  ll: "least-latency",
});

export type HealthCheckProtocol = "none" | "tcp" | "tcpDelay" | "http" | "dns";

export interface HealthCheck {
  readonly protocol: HealthCheckProtocol;
  readonly timeoutMs: number;
  readonly intervalMs: number;
  /** Successes in a row that bring a server up; failures in a row that take it down. */
  readonly up: number;
  readonly down: number;
  readonly http: HttpCheck;
  /** The name that a `dns` check asks for. */
  readonly dnsName: string;
}

export interface HttpCheck {
  readonly method: string;
  readonly path: string;
  /** Empty: the address of the server. */
  readonly host: string;
  /** Classes or codes that count as healthy: `2xx`, `204`. */
  readonly status: readonly string[];
}

/** TLS to the servers of a group, on both sides with certificates. */
export interface GroupTls {
  /** Key of the certificate that servers are shown; its `caFile` holds the authorities of theirs. */
  readonly certificate: string;
  /** Who servers may be, by the identity in their certificates (`peer-pattern.ts`). */
  readonly peers: readonly string[];
}

/** Endpoints that share a way of balancing and of being checked. */
export interface Group extends Metadata {
  readonly kind: "Group";
  readonly method: BalancingMethod;
  readonly healthCheck: HealthCheck;
  /** How long a server that came up takes to get its full share; 0: at once. */
  readonly slowStartMs: number;
  /** The hints of an attachment to a service win over these. */
  readonly hints: RouteHints;
  /** Undefined: servers are spoken to as they are, without TLS. */
  readonly tls: GroupTls | undefined;
}

const groupTlsSchema: z.ZodType<GroupTls> = z.strictObject({
  certificate: keySchema,
  peers: z.array(peerPatternSchema).min(1).max(MAX_PEERS),
});

export const routeHintsSchema: z.ZodType<RouteHints> = z.strictObject({
  host: z.string().default(""),
  port: optionalPortSchema.default(0),
  path: z
    .string()
    .regex(/^(\/.*)?$/, "a path that begins with /")
    .default(""),
});

const httpCheckSchema = z.strictObject({
  method: z.string().default("GET"),
  path: z.string().startsWith("/").default("/"),
  host: z.string().default(""),
  status: z
    .array(z.string().regex(/^[1-5](xx|\d\d)$/, "a class such as 2xx or a code such as 204"))
    .default(["1xx", "2xx", "3xx", "4xx"]),
});

const healthCheckSchema: z.ZodType<HealthCheck> = z.strictObject({
  protocol: z.enum(["none", "tcp", "tcpDelay", "http", "dns"]).default("tcp"),
  timeoutMs: z.int().min(1).max(3_600_000).default(2000),
  intervalMs: z.int().min(10).max(3_600_000).default(5000),
  up: z.int().min(1).max(100).default(2),
  down: z.int().min(1).max(100).default(3),
  http: httpCheckSchema.prefault({}),
  dnsName: z.string().default(""),
});

export const methodSchema: z.ZodType<BalancingMethod> = z.enum(BALANCING_METHODS);

export const groupSchema: z.ZodType<Group> = z
  .strictObject({
    kind: z.literal("Group"),
    ...metadataFields,
    method: methodSchema.default("weighted-round-robin"),
    healthCheck: healthCheckSchema.prefault({ protocol: "none" }),
    slowStartMs: z.int().min(0).max(3_600_000).default(0),
    hints: routeHintsSchema.default(NO_HINTS),
    tls: groupTlsSchema.optional(),
  })
  // The field is there also where it is undefined: equal objects have equal keys.
  .transform((group) => ({ ...group, tls: group.tls }));
