import type { DeleteOp, SetName, SetOp } from "../../core/view/ops.ts";
import type { ProtoReader } from "../../wire/protobuf/proto-reader.ts";
import {
  type EndpointMessage,
  emptyEndpointMessage,
  readEndpoint,
} from "../../wire/sets/endpoint-reader.ts";
import { readJsonObject } from "../../wire/sets/json-value.ts";
import { NodeValues } from "../../wire/sets/node-values.ts";
import { readService, type ServiceMessage } from "../../wire/sets/service-reader.ts";
import { type FurtherSet, furtherSetOf, SET_ID } from "../../wire/sets/set-id.ts";
import type { ChangeOp } from "./watch-call.ts";

/** What a server without our fields says; what it means depends on more than the message. */
export type OldItem =
  | { readonly op: "old-service"; readonly path: string; readonly message: ServiceMessage }
  | { readonly op: "old-endpoint"; readonly path: string; readonly message: EndpointMessage };

export type NodeItem = SetOp | DeleteOp | OldItem;

/** Reads the operations of the node-local API. */
export class NodeItemReader {
  readonly #values = new NodeValues();
  readonly #message = emptyEndpointMessage();

  /** Undefined for sets of a time to come. */
  read(op: Exclude<ChangeOp, { op: "reset" }>, reader: ProtoReader): NodeItem | undefined {
    const { path } = op;
    if (op.op === "delete") {
      const set = setNameOf(op.set);
      return set && { op: "delete", set, path };
    }
    reader.window(op.start, op.end);
    if (op.set === SET_ID.endpoints) return this.#endpoint(path, reader);
    if (op.set === SET_ID.services) return this.#service(path, reader);
    return readFurther(furtherSetOf(op.set), path, reader);
  }

  #service(path: string, reader: ProtoReader): NodeItem {
    const message = readService(reader);
    if (message.usable === undefined) return { op: "old-service", path, message };
    return { op: "set", set: "services", path, value: this.#values.service(path, message) };
  }

  #endpoint(path: string, reader: ProtoReader): NodeItem {
    const message = readEndpoint(reader, this.#message);
    if (message.extension === 0) return { op: "old-endpoint", path, message: { ...message } };
    return { op: "set", set: "endpoints", path, value: this.#values.endpoint(path, message) };
  }
}

function setNameOf(id: number): SetName | undefined {
  if (id === SET_ID.services) return "services";
  return id === SET_ID.endpoints ? "endpoints" : furtherSetOf(id);
}

function readFurther(
  set: FurtherSet | undefined,
  path: string,
  reader: ProtoReader,
): SetOp | undefined {
  switch (set) {
    case undefined:
      return undefined;
    case "listeners":
      return { op: "set", set, path, value: readJsonObject("Listener", reader) };
    case "groups":
      return { op: "set", set, path, value: readJsonObject("Group", reader) };
    case "nodes":
      return { op: "set", set, path, value: readJsonObject("Node", reader) };
    case "security-groups":
      return { op: "set", set, path, value: readJsonObject("SecurityGroup", reader) };
    case "certificates":
      return { op: "set", set, path, value: readJsonObject("Certificate", reader) };
  }
}
