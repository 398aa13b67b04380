import { nameOf } from "../../../platform/linux/iptables/chain-id.ts";
import { renderRule } from "../../../platform/linux/iptables/rule.ts";
import {
  CANARIES,
  CLUSTER_IPS,
  FORWARD,
  LISTENERS,
  LISTENERS_ANY,
  MARK_MASQ,
  NODE_PORTS,
  NOT_LOCAL,
  POSTROUTING,
  REFUSED_SERVICES,
  SERVICES,
  SHARED_CHAINS,
} from "../../kube-chains.ts";
import type { PlanContext } from "../../plan-context.ts";
import { GroupBuilder, type GroupRules } from "./group-rules.ts";
import { FIREWALL_JUMP, LED_ON } from "./jumps.ts";

/**
 * The rules that are there without any service. What it has in shared chains stands behind the rules
 * of all services.
 */
export function planBase(context: PlanContext): GroupRules {
  const builder = new GroupBuilder();
  for (const chain of SHARED_CHAINS) builder.share(chain);
  for (const canary of CANARIES) builder.chain(canary);
  planMasquerade(context, builder);
  planForward(context, builder);
  for (const [chain, jumps] of LED_ON) builder.chain(chain).push(...jumps);
  const nodePorts = context.nodePortDestinations.map((destination) =>
    renderRule({
      destination,
      comment: "kubernetes service nodeports",
      target: nameOf(NODE_PORTS),
    }),
  );
  const listeners = [LISTENERS, LISTENERS_ANY].map((chain) =>
    renderRule({ target: nameOf(chain) }),
  );
  builder.share(SERVICES, ...nodePorts, ...listeners);
  builder.share(REFUSED_SERVICES, renderRule({ target: nameOf(CLUSTER_IPS) }));
  return builder.build();
}

/** What is marked on its way in gets this node's address on its way out, and loses the mark. */
function planMasquerade({ mark, localMatches }: PlanContext, builder: GroupBuilder): void {
  builder.chain(MARK_MASQ).push(renderRule({ target: `MARK --set-xmark ${mark}/${mark}` }));
  builder.chain(POSTROUTING).push(
    renderRule({ matches: [`-m mark ! --mark ${mark}/${mark}`], target: "RETURN" }),
    renderRule({ target: `MARK --set-xmark ${mark}/0x0` }),
    renderRule({
      comment: "kubernetes service traffic requiring SNAT",
      target: "MASQUERADE --random-fully",
    }),
  );
  // Several networks can not be negated in one rule.
  if (localMatches === undefined || localMatches.notLocal !== undefined) return;
  builder
    .chain(NOT_LOCAL)
    .push(
      ...localMatches.local.map((match) => renderRule({ ...match, target: "RETURN" })),
      renderRule({ target: nameOf(MARK_MASQ) }),
    );
}

/**
 * Most packets are of connections that stand: they are asked for first, without a comment, which would be one
 * more question. What conntrack takes for invalid would reach a client with an address that it never called.
 * The firewall comes before what is marked: others mark packets, too (CNI plugins use KUBE-MARK-MASQ), which
 * lets nobody in.
 */
function planForward({ mark, isLiberal }: PlanContext, builder: GroupBuilder): void {
  const rules = builder.chain(FORWARD);
  rules.push(
    renderRule({ matches: ["-m conntrack --ctstate RELATED,ESTABLISHED"], target: "ACCEPT" }),
  );
  if (!isLiberal) {
    rules.push(renderRule({ matches: ["-m conntrack --ctstate INVALID"], target: "DROP" }));
  }
  rules.push(
    FIREWALL_JUMP,
    renderRule({
      comment: "kubernetes forwarding rules",
      matches: [`-m mark --mark ${mark}/${mark}`],
      target: "ACCEPT",
    }),
  );
}
