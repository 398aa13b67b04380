import { dump } from "js-yaml";
import { FURTHER_SETS } from "../../core/sinks/decoder.ts";
import type { FullState } from "../../core/sinks/fullstate.ts";

export type StateFormat = "yaml" | "json";

/** A node's whole state as one document: `---` and YAML, or one line of JSON. */
export function renderState(nodeName: string, state: FullState, format: StateFormat): string {
  const document = { node: nodeName, ...stateDocument(state) };
  if (format === "json") return `${JSON.stringify(document)}\n`;
  return `---\n${dump(withoutEmpty(document), { noRefs: true, lineWidth: -1 })}`;
}

function stateDocument(state: FullState): Record<string, readonly unknown[]> {
  const services = sortedValues(state.services).map(({ service, endpoints }) => ({
    ...service,
    endpoints: endpoints.map(({ service: _, ...rest }) => rest),
  }));
  const further: Record<string, readonly unknown[]> = {};
  for (const set of FURTHER_SETS) further[set] = sortedValues<unknown>(state.further[set]);
  return { services, ...further };
}

function sortedValues<V>(values: ReadonlyMap<string, V>): V[] {
  return [...values].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
}

/** People need not read what is not there; the top level keeps its empty sets. */
function withoutEmpty(document: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(document).map(([key, value]) => [key, prune(value)]));
}

function prune(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(prune);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value)
    .map(([key, item]) => [key, prune(item)] as const)
    .filter(([, item]) => !isEmpty(item));
  return Object.fromEntries(kept);
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === "") return true;
  if (typeof value !== "object" || value === null) return false;
  return Object.keys(value).length === 0;
}
