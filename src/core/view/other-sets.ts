import { keyOf, type ModelObject } from "../model/object.ts";
import type { SetOp } from "./ops.ts";

/**
 * The operation that brings an object which is passed on as it is to a node; undefined where the
 * object is not for this node, or reaches it as part of a service.
 */
export function otherSetOp(object: ModelObject | undefined, nodeName: string): SetOp | undefined {
  if (object === undefined) return undefined;
  const path = keyOf(object);
  switch (object.kind) {
    case "Listener":
      if (object.node !== "" && object.node !== nodeName) return undefined;
      return { op: "set", set: "listeners", path, value: object };
    case "Group":
      return { op: "set", set: "groups", path, value: object };
    case "Node":
      return { op: "set", set: "nodes", path, value: object };
    case "SecurityGroup":
      return { op: "set", set: "security-groups", path, value: object };
    case "Certificate":
      return { op: "set", set: "certificates", path, value: object };
    case "Service":
    case "Endpoint":
      return undefined;
  }
}
