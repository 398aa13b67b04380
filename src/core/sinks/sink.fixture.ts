import { type Endpoint, endpointSchema } from "../model/endpoint.ts";
import { type Node, nodeSchema } from "../model/node.ts";
import { type Service, serviceSchema } from "../model/service.ts";
import type { DeleteOp, NodeEndpoint, NodeService, Op, SetName, SetOp } from "../view/ops.ts";
import type { Sink, WatchRequest } from "./sink.ts";

export const REQUEST: WatchRequest = { nodeName: "node-a", sets: [] };

function service(name: string, port = 80): Service {
  return serviceSchema.parse({ kind: "Service", name, ports: [{ port }] });
}

export function setService(name: string, port = 80): SetOp {
  const key = `default/${name}`;
  const value: NodeService = { key, service: service(name, port), usable: [["v4"]] };
  return { op: "set", set: "services", path: key, value };
}

function endpoint(group: string, name: string): Endpoint {
  return endpointSchema.parse({ kind: "Endpoint", group, name, addresses: ["10.0.0.1"] });
}

export function setEndpoint(of: string, name: string, target = 8080): SetOp {
  const path = `default/${of}/${name}`;
  const value: NodeEndpoint = {
    path,
    service: `default/${of}`,
    group: `default/${of}`,
    endpoint: endpoint(of, name),
    local: false,
    ports: [{ name: "", target, clusterFor: ["v4"], localFor: [] }],
  };
  return { op: "set", set: "endpoints", path, value };
}

function node(name: string, zone = ""): Node {
  return nodeSchema.parse({ kind: "Node", name, zone });
}

export function setNode(name: string, zone = ""): SetOp {
  return { op: "set", set: "nodes", path: name, value: node(name, zone) };
}

export function del(set: SetName, path: string): DeleteOp {
  return { op: "delete", set, path };
}

/** Drives a sink as the daemon does, without waiting for requests. */
export async function play(sink: Sink, ops: readonly Op[]): Promise<void> {
  for (const op of ops) {
    if (op.op === "reset") sink.reset();
    else await sink.send(op);
  }
}

/** A sink that remembers what it was told. */
export function createRecorder(): { readonly sink: Sink; readonly ops: Op[] } {
  const ops: Op[] = [];
  const sink: Sink = {
    setup: () => undefined,
    waitRequest: () => REQUEST,
    reset: () => void ops.push({ op: "reset" }),
    send: (op) => void ops.push(op),
  };
  return { sink, ops };
}

/** One line an operation, for comparing. */
export function brief(op: Op): string {
  return op.op === "set" || op.op === "delete" ? `${op.op} ${op.set} ${op.path}` : op.op;
}
