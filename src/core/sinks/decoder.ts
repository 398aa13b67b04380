import type { NodeEndpoint, NodeService, SetName, SetOp, SetValues } from "../view/ops.ts";
import type { Sink, WatchRequest } from "./sink.ts";

/** The sets that are sent only where a sink asks for them. */
export type FurtherSet = Exclude<SetName, "services" | "endpoints">;

export const FURTHER_SETS: readonly FurtherSet[] = [
  "listeners",
  "groups",
  "nodes",
  "security-groups",
  "certificates",
];

export interface SetHandler<V> {
  set(path: string, value: V): void;
  delete(path: string): void;
}

/** One call for each operation, for backends that follow changes as they come. */
export interface Decoder {
  setup(): void | Promise<void>;
  waitRequest(): WatchRequest | Promise<WatchRequest>;
  setService(service: NodeService): void;
  deleteService(key: string): void;
  setEndpoint(endpoint: NodeEndpoint): void;
  /** @param service key of the service that the endpoint belonged to. */
  deleteEndpoint(path: string, service: string): void;
  /** All of a change was told; settles when it is applied. */
  sync(): void | Promise<void>;
  /** What is told up to the next sync is the whole state. */
  reset(): void;
  /** Operations of a set without a handler are passed over. */
  readonly further?: { readonly [S in FurtherSet]?: SetHandler<SetValues[S]> };
}

export function createDecoderSink(decoder: Decoder): Sink {
  return {
    setup: () => decoder.setup(),
    waitRequest: () => decoder.waitRequest(),
    reset: () => decoder.reset(),
    send: (op) => {
      if (op.op === "sync") return decoder.sync();
      if (op.op === "set") decodeSet(decoder, op);
      else decodeDelete(decoder, op.set, op.path);
    },
  };
}

/** The service's key at the head of an endpoint's path. */
export function serviceOfPath(path: string): string {
  return path.slice(0, path.indexOf("/", path.indexOf("/") + 1));
}

function decodeSet(decoder: Decoder, op: SetOp): void {
  const { further } = decoder;
  switch (op.set) {
    case "services":
      decoder.setService(op.value);
      break;
    case "endpoints":
      decoder.setEndpoint(op.value);
      break;
    case "listeners":
      further?.listeners?.set(op.path, op.value);
      break;
    case "groups":
      further?.groups?.set(op.path, op.value);
      break;
    case "nodes":
      further?.nodes?.set(op.path, op.value);
      break;
    case "security-groups":
      further?.["security-groups"]?.set(op.path, op.value);
      break;
    case "certificates":
      further?.certificates?.set(op.path, op.value);
      break;
  }
}

function decodeDelete(decoder: Decoder, set: SetName, path: string): void {
  if (set === "services") decoder.deleteService(path);
  else if (set === "endpoints") decoder.deleteEndpoint(path, serviceOfPath(path));
  else decoder.further?.[set]?.delete(path);
}
