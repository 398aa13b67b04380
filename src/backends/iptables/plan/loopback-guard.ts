import { type ChainId, chainText, nameOf } from "../../../platform/linux/iptables/chain-id.ts";
import type { SavedChains } from "../../../platform/linux/iptables/parse-save.ts";
import { ledToByOthers } from "../../../platform/linux/iptables/remove-chains.ts";
import type { RestoreScript } from "../../../platform/linux/iptables/restore-script.ts";
import { bareRule, renderRule } from "../../../platform/linux/iptables/rule.ts";
import { KUBELET_FIREWALL } from "../../kube-chains.ts";

/** Tells our rule, and our jumps to it, from kubelet's, which say the same. */
const OUR_COMMENT = "portolan: block incoming localnet connections";
const LOOPBACK = "127.0.0.0/8";
const GUARD = renderRule({
  notSource: LOOPBACK,
  destination: LOOPBACK,
  comment: OUR_COMMENT,
  matches: ["-m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT"],
  target: "DROP",
});
const GUARDED_HOOKS: readonly ChainId[] = ["filter INPUT", "filter OUTPUT"];
const GUARD_JUMP = renderRule({ target: nameOf(KUBELET_FIREWALL) });
const OUR_GUARD_JUMP = renderRule({ comment: OUR_COMMENT, target: nameOf(KUBELET_FIREWALL) });

/**
 * With route_localnet, neighbours could call loopback addresses of this node: a rule of ours beside
 * kubelet's in its chain forbids it.
 */
export function compareGuard(actual: SavedChains, isNeeded: boolean, script: RestoreScript): void {
  const rules = actual.get(KUBELET_FIREWALL);
  const ours = (rules ?? []).filter(isOurs);
  if (!isNeeded) {
    if (ours.length > 0) removeGuard(actual, script);
    return;
  }
  const isRight = ours.length === 1 && bareRule(ours[0] ?? "") === bareRule(GUARD);
  if (rules === undefined) script.write(KUBELET_FIREWALL, chainText(KUBELET_FIREWALL, [GUARD]));
  else if (!isRight) {
    for (const rule of ours) script.remove(KUBELET_FIREWALL, rule);
    script.append(KUBELET_FIREWALL, GUARD);
  }
  for (const hook of GUARDED_HOOKS) {
    if (guardJumps(hook, actual).length === 0) script.insert(hook, [OUR_GUARD_JUMP]);
  }
}

/** Takes our rule and jumps away; the chain and other jumps to it only where nobody else has a rule in it. */
export function removeGuard(actual: SavedChains, script: RestoreScript): void {
  const rules = actual.get(KUBELET_FIREWALL) ?? [];
  const ours = rules.filter(isOurs);
  for (const rule of ours) script.remove(KUBELET_FIREWALL, rule);
  const isLast = ours.length > 0 && ours.length === rules.length;
  for (const hook of GUARDED_HOOKS) {
    for (const rule of guardJumps(hook, actual)) {
      if (isLast || isOurs(rule)) script.remove(hook, rule);
    }
  }
  if (isLast && !isLedToByOthers(actual)) script.deleteEmptied(KUBELET_FIREWALL);
}

/** By more than jumps as kubelet makes them: the kernel would not delete it. */
function isLedToByOthers(actual: SavedChains): boolean {
  const isFirewall = (chain: ChainId): boolean => chain === KUBELET_FIREWALL;
  return ledToByOthers(actual, isFirewall, isGuardJump).has(KUBELET_FIREWALL);
}

function isOurs(rule: string): boolean {
  return rule.includes(OUR_COMMENT);
}

function guardJumps(hook: ChainId, actual: SavedChains): readonly string[] {
  return (actual.get(hook) ?? []).filter((rule) => isGuardJump(hook, rule));
}

function isGuardJump(hook: ChainId, rule: string): boolean {
  return GUARDED_HOOKS.includes(hook) && bareRule(rule) === GUARD_JUMP;
}
