import { FAMILIES } from "../../../core/model/address.ts";
import type { Exec } from "../exec.ts";
import type { TableName } from "./chain-id.ts";
import { createIptablesTool, IPTABLES_MODES, type IptablesMode } from "./iptables-tool.ts";

/** Chains that say which tools this machine's other programs use. */
const HINTS = /^:KUBE-(?:IPTABLES-HINT|KUBELET-CANARY|PROXY-CANARY) /gm;
/** Kubelet's stand in the first one, a proxy's in the second one; the rules of services in neither. */
const HINTED_TABLES: readonly TableName[] = ["mangle", "filter"];
const RULE = /^-A /gm;

export interface DetectedMode {
  readonly mode: IptablesMode;
  /** Why this one, in words. */
  readonly because: string;
}

/**
 * The implementation that the rules of this machine are in, as the containers of kube-proxy tell it:
 * where kubelet or a proxy left its hints; else where more rules are; else the newer one.
 * @returns undefined where no tools are there
 */
export async function detectMode(exec: Exec): Promise<DetectedMode | undefined> {
  // The hints stand in tables that few rules are in: all of them are read only where that tells nothing.
  const hinted = await countWith(exec, HINTS, HINTED_TABLES);
  const found = hinted.filter(({ count }) => count > 0);
  const [only] = found;
  if (only !== undefined) {
    return { mode: only.mode, because: "kubelet's or a proxy's chains are in it" };
  }
  const [first, second] = hinted.length < 2 ? hinted : await countWith(exec, RULE);
  if (first === undefined) return undefined;
  if (second === undefined) return { mode: first.mode, because: "it is the only one here" };
  if (first.count === 0 && second.count === 0) {
    return { mode: first.mode, because: "no rules are there, and it is the newer one" };
  }
  const more = second.count > first.count ? second : first;
  return { mode: more.mode, because: "more rules are in it" };
}

interface Count {
  readonly mode: IptablesMode;
  readonly count: number;
}

/** How often a pattern is found in the rules of each implementation that is there. */
async function countWith(
  exec: Exec,
  pattern: RegExp,
  tables?: readonly TableName[],
): Promise<readonly Count[]> {
  const counts: Count[] = [];
  for (const mode of IPTABLES_MODES) {
    // Asked for a table, the legacy tools make it.
    const asked = mode === "nft" && tables !== undefined ? tables : [undefined];
    const texts = await Promise.all(
      FAMILIES.flatMap((family) => {
        const tool = createIptablesTool(family, mode, exec);
        return asked.map((table) => tool.save(table).catch(unreadable));
      }),
    );
    const readable = texts.filter((text) => text !== undefined);
    if (readable.length === 0) continue;
    const count = readable.reduce((sum, text) => sum + (text.match(pattern)?.length ?? 0), 0);
    counts.push({ mode, count });
  }
  return counts;
}

function unreadable(): undefined {
  return undefined;
}
