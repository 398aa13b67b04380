import type { Certificate } from "./certificate.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Group } from "./group.ts";
import type { Listener } from "./listener.ts";
import type { Node } from "./node.ts";
import type { SecurityGroup } from "./security-group.ts";
import type { Service } from "./service.ts";

/** Everything the store can hold. All objects are immutable. */
export type ModelObject =
  | Service
  | Listener
  | Group
  | Endpoint
  | Node
  | SecurityGroup
  | Certificate;

export type Kind = ModelObject["kind"];

export type ObjectOf<K extends Kind> = Extract<ModelObject, { kind: K }>;

export const KINDS: readonly Kind[] = [
  "Service",
  "Listener",
  "Group",
  "Endpoint",
  "Node",
  "SecurityGroup",
  "Certificate",
];

/** What an object is called among those of its kind: `namespace/name`; a node has no namespace. */
export function keyOf(object: ModelObject): string {
  switch (object.kind) {
    case "Node":
      return object.name;
    case "Endpoint":
      return `${object.namespace}/${object.group}/${object.name}`;
    default:
      return `${object.namespace}/${object.name}`;
  }
}

/** Key of the group that an endpoint belongs to. */
export function groupKeyOf(endpoint: Endpoint): string {
  return `${endpoint.namespace}/${endpoint.group}`;
}

/** What people call it: `Service default/web`. */
export function describe(kind: Kind, key: string): string {
  return `${kind} ${key}`;
}
