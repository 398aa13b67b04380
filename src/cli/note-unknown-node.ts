import type { GlobalStore } from "../core/store/global-store.ts";
import type { CliContext } from "./command-spec.ts";

const MAX_NAMED = 5;

/** A node that the state does not know has no zone and no endpoints: seldom what is meant. */
export function noteUnknownNode(store: GlobalStore, node: string, context: CliContext): void {
  const { nodes } = store.state();
  if (nodes.size === 0 || nodes.has(node)) return;
  const names = [...nodes.keys()].sort();
  const more = names.length > MAX_NAMED ? `, and ${names.length - MAX_NAMED} more` : "";
  context.stderr.write(
    `portolan: note: the state has no node "${node}"; it has ${names.slice(0, MAX_NAMED).join(", ")}${more}\n`,
  );
}
