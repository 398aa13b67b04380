import * as z from "zod";
import { cidrSchema, ipSchema, metadataFields, type StringMap } from "./common.ts";

export interface Tunnel {
  /** Where other nodes reach the tunnel, `HOST:PORT`. */
  readonly address: string;
  /** Base64; empty where the tunnel is not secured. */
  readonly publicKey: string;
}

/** A machine that runs Portolan or workloads. */
export interface Node {
  readonly kind: "Node";
  readonly name: string;
  readonly labels: StringMap;
  readonly annotations: StringMap;
  /** The first of each family is the primary one. */
  readonly addresses: readonly string[];
  readonly zone: string;
  /** The networks of its workloads. */
  readonly subnets: readonly string[];
  /** Undefined where the node has no tunnel. */
  readonly tunnel: Tunnel | undefined;
  /** False once its liveness is lost. */
  readonly alive: boolean;
  /** Why traffic from outside should go elsewhere, as the node is about to go; empty where it stays. */
  readonly leaving: string;
}

export const nodeSchema: z.ZodType<Node> = z
  .strictObject({
    kind: z.literal("Node"),
    name: metadataFields.name,
    labels: metadataFields.labels,
    annotations: metadataFields.annotations,
    addresses: z.array(ipSchema).default([]),
    zone: z.string().default(""),
    subnets: z.array(cidrSchema).default([]),
    tunnel: z.strictObject({ address: z.string(), publicKey: z.string().default("") }).optional(),
    alive: z.boolean().default(true),
    leaving: z.string().default(""),
  })
  // The field is there also where it is undefined: equal objects have equal keys.
  .transform((node) => ({ ...node, tunnel: node.tunnel }));
