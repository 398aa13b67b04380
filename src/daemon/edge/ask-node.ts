import { request } from "node:http";
import { join } from "node:path";
import * as z from "zod";
import { CoreError, messageOf } from "../../core/errors.ts";
import { EDGE_SOCKET } from "./resolve-settings.ts";

/** What `edge status` shows of a node. */
const nodeReportSchema: z.ZodType<NodeReport> = z.object({
  name: z.string(),
  version: z.string(),
  registered: z.boolean(),
  nodeIp: z.string().nullable(),
  nodePort: z.number(),
  subnetwork: z.string().optional(),
  subnetworkv6: z.string().optional(),
  addresses: z.object({ used: z.number(), capacity: z.number() }).optional(),
  workloads: z.object({ up: z.number(), lost: z.number() }),
});

export interface NodeReport {
  readonly name: string;
  readonly version: string;
  readonly registered: boolean;
  readonly nodeIp: string | null;
  readonly nodePort: number;
  readonly subnetwork?: string | undefined;
  readonly subnetworkv6?: string | undefined;
  readonly addresses?: { readonly used: number; readonly capacity: number } | undefined;
  readonly workloads: { readonly up: number; readonly lost: number };
}

export interface WorkloadReport {
  readonly serviceName: string;
  readonly nsAddress: string;
  readonly nsAddressv6: string;
  readonly health: string;
  readonly containerId: string;
  readonly portMappings: readonly {
    readonly protocol: string;
    readonly hostPort: number;
    readonly port: number;
  }[];
}

const workloadsSchema: z.ZodType<{ readonly workloads: readonly WorkloadReport[] }> = z.object({
  workloads: z.array(
    z.object({
      serviceName: z.string(),
      nsAddress: z.string(),
      nsAddressv6: z.string(),
      health: z.string(),
      containerId: z.string(),
      portMappings: z.array(
        z.object({ protocol: z.string(), hostPort: z.number(), port: z.number() }),
      ),
    }),
  ),
});

export interface PeerReport {
  readonly name: string;
  readonly endpoint: string;
  readonly mode: string | null;
  readonly roundTripMs: number | null;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** Whether short packets pass in the kernel, and why not. */
export interface KernelPathReport {
  readonly isOpen: boolean;
  readonly reason: string | null;
}

const nodesSchema: z.ZodType<{
  readonly nodes: readonly PeerReport[];
  readonly kernelPath?: KernelPathReport | undefined;
}> = z.object({
  kernelPath: z.object({ isOpen: z.boolean(), reason: z.string().nullable() }).optional(),
  nodes: z.array(
    z.object({
      name: z.string(),
      endpoint: z.string(),
      mode: z.string().nullable(),
      roundTripMs: z.number().nullable(),
      bytesIn: z.number(),
      bytesOut: z.number(),
    }),
  ),
});

export interface FlowReport {
  readonly protocol: string;
  readonly source: string;
  readonly destination: string;
  readonly instance: string;
  readonly node: string;
  readonly state: string;
}

const flowsSchema: z.ZodType<{ readonly flows: readonly FlowReport[] }> = z.object({
  flows: z.array(
    z.object({
      protocol: z.string(),
      source: z.string(),
      destination: z.string(),
      instance: z.string(),
      node: z.string(),
      state: z.string(),
    }),
  ),
});

export interface RoundTripReport {
  readonly from: string;
  readonly to: string;
  readonly roundTripMs: number;
}

const roundTripsSchema: z.ZodType<{ readonly roundTrips: readonly RoundTripReport[] }> = z.object({
  roundTrips: z.array(z.object({ from: z.string(), to: z.string(), roundTripMs: z.number() })),
});

/** All that `edge status` shows. */
export interface EdgeReport {
  readonly node: NodeReport;
  readonly workloads: readonly WorkloadReport[];
  readonly nodes: readonly PeerReport[];
  /** Missing where the node is of an earlier version. */
  readonly kernelPath?: KernelPathReport | undefined;
  /** Between all nodes, as far as it is known. */
  readonly roundTrips: readonly RoundTripReport[];
  readonly flows: readonly FlowReport[];
}

const TIMEOUT_MS = 5000;

/** Asks the node of a state folder. @throws CoreError ERR_NOT_POSSIBLE_HERE where none answers */
export async function askNode(folder: string): Promise<EdgeReport> {
  const path = join(folder, EDGE_SOCKET);
  const node = nodeReportSchema.parse(await get(path, "/node"));
  if (!node.registered) return { node, workloads: [], nodes: [], roundTrips: [], flows: [] };
  return {
    node,
    ...workloadsSchema.parse(await get(path, "/workloads")),
    ...nodesSchema.parse(await get(path, "/nodes")),
    ...roundTripsSchema.parse(await get(path, "/roundtrips")),
    ...flowsSchema.parse(await get(path, "/flows")),
  };
}

function get(socketPath: string, path: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown): void => {
      const message = `no edge node answers at ${socketPath} (${messageOf(cause)}); start one with portolan edge node, or name its folder with --state`;
      reject(new CoreError("ERR_NOT_POSSIBLE_HERE", message, { cause }));
    };
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const sent = request({ socketPath, path, signal }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("error", fail);
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => {
        try {
          resolve(JSON.parse(text));
        } catch (error) {
          fail(error);
        }
      });
    });
    sent.on("error", fail);
    sent.end();
  });
}
