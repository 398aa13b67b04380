import { deepEqual } from "../../../core/model/equal.ts";
import { type ChainId, chainText } from "../../../platform/linux/iptables/chain-id.ts";
import { compareJumps, removeJumps } from "../../../platform/linux/iptables/compare-jumps.ts";
import type { IptablesTool } from "../../../platform/linux/iptables/iptables-tool.ts";
import { parseSave, type SavedChains } from "../../../platform/linux/iptables/parse-save.ts";
import { ledToByOthers, removeChains } from "../../../platform/linux/iptables/remove-chains.ts";
import { RestoreScript } from "../../../platform/linux/iptables/restore-script.ts";
import { bareText } from "../../../platform/linux/iptables/rule.ts";
import { isIpvsChain, isKubeProxyChain } from "../../kube-chains.ts";
import { isKubeJump } from "../../kube-jumps.ts";
import type { PlanContext } from "../../plan-context.ts";
import { GLUE_JUMPS, planGlue } from "./plan-glue.ts";
import type { FamilySets } from "./set-names.ts";

/**
 * Keeps the rules of one family, which lead packets by the sets that services are in. They are read and
 * compared at first, where what they depend on changed, and when somebody may have altered them. Chains
 * that the backend iptables or a kube-proxy left go.
 */
export class GlueKeeper {
  readonly #tool: IptablesTool;
  readonly #sets: FamilySets;
  /** What rules should be like, and what they were last made like. */
  #wanted: PlanContext | undefined;
  #written: PlanContext | undefined;

  constructor(tool: IptablesTool, sets: FamilySets) {
    this.#tool = tool;
    this.#sets = sets;
  }

  /** Whether they were written once. Without them, nobody may come to services. */
  get stand(): boolean {
    return this.#written !== undefined;
  }

  /** @returns how many lines were executed */
  async sync(context: PlanContext): Promise<number> {
    this.#wanted = context;
    return deepEqual(context, this.#written) ? 0 : this.#write(context);
  }

  /** The same where others may have altered something, or it failed before. */
  async repair(): Promise<number> {
    return this.#wanted === undefined ? 0 : this.#write(this.#wanted);
  }

  async #write(context: PlanContext): Promise<number> {
    const script = compareGlue(parseSave(await this.#tool.save()), context, this.#sets);
    if (!script.isEmpty) await this.#tool.restore(script.render(this.#tool.mode));
    this.#written = context;
    return script.size;
  }
}

/** What has to be executed so that the rules are as planned. */
function compareGlue(actual: SavedChains, context: PlanContext, sets: FamilySets): RestoreScript {
  const script = new RestoreScript();
  const wanted = planGlue(context, sets);
  for (const [chain, rules] of wanted) {
    const there = actual.get(chain);
    const text = chainText(chain, rules);
    const isSame = there !== undefined && bareText(chainText(chain, there)) === bareText(text);
    if (!isSame) script.write(chain, text);
  }
  const isGoing = (chain: ChainId): boolean => isKubeProxyChain(chain) && !wanted.has(chain);
  compareJumps(actual, GLUE_JUMPS, isKubeJump, script);
  const otherHooks = new Map([...actual].filter(([chain]) => !GLUE_JUMPS.has(chain)));
  removeJumps(otherHooks, isGoing, isKubeJump, script);
  const led = ledToByOthers(actual, isKubeProxyChain, isKubeJump);
  removeChains([...actual.keys()].filter(isGoing), led, actual, script);
  return script;
}

/**
 * What has to be executed so that nothing of it is left.
 * @param isKept chains that another backend, which runs, has too
 */
export function planGlueRemoval(
  actual: SavedChains,
  isKept: (chain: ChainId) => boolean,
): RestoreScript {
  const script = new RestoreScript();
  const isGoing = (chain: ChainId): boolean => isIpvsChain(chain) && !isKept(chain);
  removeJumps(actual, isGoing, isKubeJump, script);
  const led = ledToByOthers(actual, isGoing, isKubeJump);
  removeChains([...actual.keys()].filter(isGoing), led, actual, script);
  return script;
}
