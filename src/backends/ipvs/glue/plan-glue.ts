import type { ChainId } from "../../../platform/linux/iptables/chain-id.ts";
import { nameOf } from "../../../platform/linux/iptables/chain-id.ts";
import { type Jumps, jump } from "../../../platform/linux/iptables/compare-jumps.ts";
import {
  FROM_THIS_NODE,
  type RuleFields,
  refusalTarget,
  renderRule,
} from "../../../platform/linux/iptables/rule.ts";
import {
  CANARIES,
  FORWARD,
  HEALTH_SETS,
  INSIDERS,
  IPVS_FILTER,
  IPVS_FIREWALL,
  LOCAL_POLICY,
  MANGLE_CANARY,
  MARK_MASQ,
  NOT_LOCAL,
  POSTROUTING,
  SERVICES,
  SOURCE_RANGES,
} from "../../kube-chains.ts";
import type { PlanContext } from "../../plan-context.ts";
import { INSIDE_BIT } from "../plan/inside-marks.ts";
import { type FamilySets, SERVED_SETS, type SetKey } from "./set-names.ts";

const NEW = ["-m conntrack --ctstate NEW"];
const firewall = jump(IPVS_FIREWALL, "kubernetes load balancer firewall", NEW);
const portals = jump(SERVICES, "kubernetes service portals");

/** Where packets come into our chains. The first hook of all is before IPVS on every way. */
export const GLUE_JUMPS: Jumps = new Map<ChainId, readonly string[]>([
  ["mangle PREROUTING", [firewall]],
  ["mangle OUTPUT", [firewall]],
  ["nat PREROUTING", [portals]],
  ["nat OUTPUT", [portals]],
  ["nat POSTROUTING", [jump(POSTROUTING, "kubernetes postrouting rules")]],
  [
    "filter INPUT",
    [
      jump(HEALTH_SETS, "kubernetes health check rules"),
      jump(IPVS_FILTER, "kubernetes ipvs access filter", NEW),
    ],
  ],
  ["filter FORWARD", [jump(FORWARD, "kubernetes forwarding rules")]],
]);

const MASQUERADED: readonly SetKey[] = ["externalIp", "loadBalancer", "nodePort", "listener"];
const LOCAL: readonly SetKey[] = [
  "externalIpLocal",
  "loadBalancerLocal",
  "nodePortLocal",
  "listenerLocal",
];
/** All sets of what is served. */
const SERVED: readonly SetKey[] = [...new Set(Object.values(SERVED_SETS).flat())];

const MARK = nameOf(MARK_MASQ);
const INSIDE = `0x${INSIDE_BIT.toString(16)}`;
const NOT_INSIDE = `-m mark ! --mark ${INSIDE}/${INSIDE}`;

/** All rules of a family; services are in the sets that they look into, and in none of them. */
export function planGlue(
  context: PlanContext,
  sets: FamilySets,
): ReadonlyMap<ChainId, readonly string[]> {
  const inSet = (key: SetKey, directions: string): string =>
    `-m set --match-set ${sets[key].name} ${directions}`;
  const called = (key: SetKey): string => inSet(key, "dst,dst");
  const insiders: readonly Partial<RuleFields>[] = [
    ...(context.localMatches?.local ?? []),
    { matches: [FROM_THIS_NODE] },
  ];
  const rule = (target: string, ...matches: readonly string[]): string =>
    renderRule({ matches, target });

  return new Map<ChainId, readonly string[]>([
    ...[MANGLE_CANARY, ...CANARIES].map((canary) => [canary, []] as const),
    [
      IPVS_FIREWALL,
      [
        rule(nameOf(SOURCE_RANGES), called("guarded")),
        rule("DROP", called("dropped")),
        ...insiders.map((who) => renderRule({ ...who, target: nameOf(INSIDERS) })),
        rule("DROP", called("droppedOutside"), NOT_INSIDE),
      ],
    ],
    [SOURCE_RANGES, [rule("RETURN", inSet("allowed", "dst,dst,src")), rule("DROP")]],
    [INSIDERS, [rule(`SET --map-set ${sets.inside.name} dst,dst --map-mark`)]],
    [
      SERVICES,
      [
        ...clusterIpRules(context, called("clusterIp"), inSet("clusterIp", "src,dst")),
        ...MASQUERADED.map((key) => rule(MARK, called(key))),
        ...LOCAL.map((key) => rule(nameOf(LOCAL_POLICY), called(key))),
        // Others' rules, such as those of host ports, would take them for calls of this node.
        ...SERVED.map((key) => rule("ACCEPT", called(key))),
      ],
    ],
    [
      LOCAL_POLICY,
      [
        ...(context.localMatches?.local ?? []).map((who) =>
          renderRule({ ...who, target: "RETURN" }),
        ),
        rule(MARK, FROM_THIS_NODE),
      ],
    ],
    [MARK_MASQ, [rule(`MARK --set-xmark ${context.mark}/${context.mark}`)]],
    ...notLocalChain(context),
    [
      POSTROUTING,
      [
        renderRule({
          comment: "Kubernetes endpoints dst ip:port, source ip for solving hairpin purpose",
          matches: [inSet("loopBack", "dst,dst,src")],
          target: "MASQUERADE",
        }),
        rule("RETURN", `-m mark ! --mark ${context.mark}/${context.mark}`),
        rule(`MARK --set-xmark ${context.mark}/0x0`),
        renderRule({
          comment: "kubernetes service traffic requiring SNAT",
          target: "MASQUERADE --random-fully",
        }),
      ],
    ],
    [
      HEALTH_SETS,
      [
        renderRule({
          protocol: "TCP",
          comment: "Kubernetes health check node port",
          matches: [inSet("healthCheck", "dst")],
          target: "ACCEPT",
        }),
      ],
    ],
    [
      IPVS_FILTER,
      [
        ...refusals(context, called("rejected")),
        ...SERVED.map((key) => rule("RETURN", called(key))),
        ...refusals(context, inSet("addresses", "dst")),
      ],
    ],
    [
      FORWARD,
      [
        renderRule({
          comment: "kubernetes forwarding rules",
          matches: [`-m mark --mark ${context.mark}/${context.mark}`],
          target: "ACCEPT",
        }),
        renderRule({
          comment: "kubernetes forwarding conntrack rule",
          matches: ["-m conntrack --ctstate RELATED,ESTABLISHED"],
          target: "ACCEPT",
        }),
      ],
    ],
  ]);
}

/** Who calls a cluster IP keeps its address, unless it is no workload, or the address is the cluster IP. */
function clusterIpRules(
  { policy, localMatches }: PlanContext,
  called: string,
  fromItself: string,
): readonly string[] {
  if (policy.masqueradeAll) return [renderRule({ matches: [called], target: MARK })];
  const itself = renderRule({ matches: [fromItself], target: MARK });
  if (localMatches === undefined) return [itself];
  const { notLocal } = localMatches;
  const others =
    notLocal === undefined
      ? renderRule({ matches: [called], target: nameOf(NOT_LOCAL) })
      : renderRule({ ...notLocal, matches: [called], target: MARK });
  return [itself, others];
}

/** Several networks can not be negated in one rule. */
function notLocalChain({
  localMatches,
}: PlanContext): readonly (readonly [ChainId, readonly string[]])[] {
  if (localMatches === undefined || localMatches.notLocal !== undefined) return [];
  const local = localMatches.local.map((match) => renderRule({ ...match, target: "RETURN" }));
  return [[NOT_LOCAL, [...local, renderRule({ target: MARK })]]];
}

function refusals({ family }: PlanContext, match: string): readonly string[] {
  return [
    renderRule({
      protocol: "TCP",
      matches: [match],
      target: refusalTarget("reject", family, "TCP"),
    }),
    renderRule({ matches: [match], target: refusalTarget("reject", family, undefined) }),
  ];
}
