import type { Endpoint } from "../../core/model/endpoint.ts";
import type { ModelObject } from "../../core/model/object.ts";

const SOURCE_ROW = /^[^|]*\|\|/;

/** The path in the global API, `namespace|name|source|key`; parts that are not used are empty. */
export function globalPathOf(object: ModelObject): string {
  switch (object.kind) {
    case "Node":
      return `|${object.name}||`;
    case "Endpoint":
      return `${object.namespace}|${object.group}|${object.source}|${object.name}`;
    default:
      return `${object.namespace}|${object.name}||`;
  }
}

/** KPNG holds each endpoint twice: this row, without the service's name, finds all of one source. */
export function sourceRowOf(endpoint: Endpoint): string {
  return `${endpoint.namespace}||${endpoint.source}|${endpoint.name}`;
}

export function isSourceRow(path: string): boolean {
  return SOURCE_ROW.test(path);
}

/** The last part, which names the row. */
export function rowKeyOf(path: string): string {
  return path.slice(path.lastIndexOf("|") + 1);
}
