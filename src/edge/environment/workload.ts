import * as z from "zod";
import { ipSchema, portSchema } from "../../core/model/common.ts";
import type { AddressPair } from "../addresses/address-plan.ts";
import type { PortMapping } from "./port-mappings.ts";

/** Which instance an address of a service means; the names are those of node engines. */
export const SERVICE_IP_TYPES = ["RR", "Closest", "InstanceNumber"] as const;

export type ServiceIpType = (typeof SERVICE_IP_TYPES)[number];

export interface ServiceIp {
  readonly type: ServiceIpType;
  /** Of either family. */
  readonly address: string;
}

/** A network namespace as it was found. */
export interface FoundNamespace {
  /** `/proc/PID/ns/net` or `/run/netns/NAME`. */
  readonly path: string;
  /** Tells it from another one that has come to be under the same path. */
  readonly id: string;
  /** Whether it was made for this workload, and goes with it; then by that name. */
  readonly madeAs: string;
}

/** What is to be deployed. */
export interface Deployment {
  readonly containerId: string;
  readonly appName: string;
  readonly instanceNumber: number;
  /** Where other nodes reach it; undefined: the address of this node. */
  readonly nodeIp: string | undefined;
  readonly nodePort: number | undefined;
  readonly serviceIps: readonly ServiceIp[];
  readonly portMappings: readonly PortMapping[];
  /** Names of the services whose routes are there before it starts. */
  readonly needs: readonly string[];
}

/** A workload that has a place in the network of this node. */
export interface Workload extends Deployment {
  /** Unique on this node: what undeploying takes. */
  readonly name: string;
  readonly addresses: AddressPair;
  readonly namespace: FoundNamespace;
  /** Of the machine; the bridge has it as a port. */
  readonly hostLink: string;
  /** The other end of it, in the namespace of the workload. */
  readonly link: string;
}

/** Unique: the number stands at the end, whatever the name is. */
export function workloadName(appName: string, instanceNumber: number): string {
  return `${appName}.instance.${instanceNumber}`;
}

const mappingSchema: z.ZodType<PortMapping> = z.strictObject({
  protocol: z.enum(["tcp", "udp"]),
  hostPort: portSchema,
  port: portSchema,
});

/** As the state file has it. */
export const workloadSchema: z.ZodType<Workload> = z
  .strictObject({
    name: z.string(),
    containerId: z.string(),
    appName: z.string(),
    instanceNumber: z.int().min(0),
    // Those that are not given are not in the file.
    nodeIp: ipSchema.optional().transform((ip) => ip),
    nodePort: portSchema.optional().transform((port) => port),
    serviceIps: z.array(z.strictObject({ type: z.enum(SERVICE_IP_TYPES), address: ipSchema })),
    portMappings: z.array(mappingSchema),
    needs: z.array(z.string()),
    addresses: z.strictObject({ v4: ipSchema, v6: ipSchema }),
    namespace: z.strictObject({ path: z.string(), id: z.string(), madeAs: z.string() }),
    hostLink: z.string(),
    link: z.string(),
  })
  .transform((workload) => ({
    ...workload,
    nodeIp: workload.nodeIp,
    nodePort: workload.nodePort,
  }));
