import { formatHostPort } from "../../../core/model/address.ts";
import type { Protocol } from "../../../core/model/common.ts";
import type { Service } from "../../../core/model/service.ts";
import { chainId, nameOf } from "../../../platform/linux/iptables/chain-id.ts";
import {
  FROM_THIS_NODE,
  hostNetwork,
  randomMatch,
  renderRule,
} from "../../../platform/linux/iptables/rule.ts";
import { MARK_MASQ, NOT_LOCAL } from "../../kube-chains.ts";
import type { PlanContext } from "../../plan-context.ts";
import type { Outcome, PortOutcomes, Target } from "../../port-targets.ts";
import { endpointChain, type ServiceChains } from "./chain-names.ts";
import type { GroupBuilder } from "./group-rules.ts";

/** One port of a service, as far as its chains go. */
export interface PortPlan {
  readonly service: Service;
  /** `default/web:main`. */
  readonly name: string;
  /** The name of the port alone. */
  readonly portName: string;
  readonly protocol: Protocol;
  readonly port: number;
  readonly clusterIPs: readonly string[];
  /** Whether anything but a cluster IP leads to it. */
  readonly isExternal: boolean;
  readonly outcomes: PortOutcomes;
  readonly chains: ServiceChains;
}

const MARK = nameOf(MARK_MASQ);
const HOST_MASK = {
  v4: "255.255.255.255",
  v6: "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
} as const;

/** The chain that calls of a cluster IP go to; undefined where they are refused. */
export function internalChain(plan: PortPlan): string | undefined {
  const { cluster, local } = plan.chains;
  const isLocal = plan.service.internalTrafficPolicy === "Local";
  const { kind } = isLocal ? plan.outcomes.local : plan.outcomes.cluster;
  return kind === "targets" ? (isLocal ? local : cluster) : undefined;
}

/** The chain that calls from outside go to; undefined where all of them are refused. */
export function externalChain(plan: PortPlan): string | undefined {
  const { cluster, local } = plan.outcomes;
  const isReached =
    cluster.kind === "targets" ||
    (plan.service.externalTrafficPolicy === "Local" && local.kind === "targets");
  return isReached ? plan.chains.external : undefined;
}

/** KUBE-SVC, KUBE-SVL, KUBE-EXT and KUBE-SEP chains: those of them that something leads to. */
export function planPortChains(plan: PortPlan, context: PlanContext, builder: GroupBuilder): void {
  const { cluster, local } = plan.chains;
  const { externalTrafficPolicy, internalTrafficPolicy } = plan.service;
  const isInternal = plan.clusterIPs.length > 0;
  const usesCluster = plan.isExternal || (isInternal && internalTrafficPolicy === "Cluster");
  const usesLocal =
    (isInternal && internalTrafficPolicy === "Local") ||
    (plan.isExternal && externalTrafficPolicy === "Local");
  if (usesCluster) planList(plan, cluster, plan.outcomes.cluster, context, builder);
  if (usesLocal) planList(plan, local, plan.outcomes.local, context, builder);
  if (plan.isExternal) planExternal(plan, context, builder);
}

function planList(
  plan: PortPlan,
  chain: string,
  outcome: Outcome,
  context: PlanContext,
  builder: GroupBuilder,
): void {
  if (outcome.kind !== "targets") return;
  const rules = builder.chain(chainId("nat", chain));
  if (chain === internalChain(plan)) rules.push(...masqueradeRules(plan, context));
  const endpoints = outcome.targets.map((target) => ({
    ...target,
    chain: endpointChain(plan.name, plan.protocol, target.ip, target.port),
  }));
  const commented = (target: Target): { comment?: string } =>
    comment(context, () => `${plan.name} -> ${formatHostPort(target.ip, target.port)}`);
  for (const endpoint of endpoints) {
    const matches = affinityMatches(plan, context, endpoint.chain, "check");
    if (matches.length > 0) {
      rules.push(renderRule({ ...commented(endpoint), matches, target: endpoint.chain }));
    }
  }
  let rest = 1;
  endpoints.forEach((endpoint, index) => {
    const isLast = index === endpoints.length - 1;
    const matches = isLast ? [] : [randomMatch(Math.min(1, endpoint.share / rest))];
    rest -= endpoint.share;
    rules.push(renderRule({ ...commented(endpoint), matches, target: endpoint.chain }));
    planEndpoint(plan, endpoint, context, builder);
  });
}

function planEndpoint(
  plan: PortPlan,
  endpoint: Target & { readonly chain: string },
  context: PlanContext,
  builder: GroupBuilder,
): void {
  const { ip, port, chain } = endpoint;
  const id = chainId("nat", chain);
  // Both lists of a service may hold it.
  if (builder.hasChain(id)) return;
  const commented = comment(context, () => plan.name);
  builder.chain(id).push(
    renderRule({ source: hostNetwork(ip), ...commented, target: MARK }),
    renderRule({
      protocol: plan.protocol,
      ...commented,
      matches: affinityMatches(plan, context, chain, "remember"),
      target: `DNAT --to-destination ${formatHostPort(ip, port)}`,
    }),
  );
}

/** Who calls a cluster IP keeps its address, unless it is no workload and workloads can be told. */
function masqueradeRules(plan: PortPlan, context: PlanContext): readonly string[] {
  const { policy, localMatches } = context;
  if (!policy.masqueradeAll && localMatches === undefined) return [];
  return plan.clusterIPs.map((ip) => {
    const call = {
      destination: hostNetwork(ip),
      protocol: plan.protocol,
      ...comment(context, () => `${plan.name} cluster IP`),
      port: plan.port,
    };
    if (policy.masqueradeAll) return renderRule({ ...call, target: MARK });
    const notLocal = localMatches?.notLocal;
    return notLocal === undefined
      ? renderRule({ ...call, target: nameOf(NOT_LOCAL) })
      : renderRule({ ...call, ...notLocal, target: MARK });
  });
}

/**
 * Policy Cluster: masqueraded, to all endpoints. Policy Local: workloads and this node itself go to
 * all endpoints, everyone else to those of this node, with its address kept.
 */
function planExternal(plan: PortPlan, context: PlanContext, builder: GroupBuilder): void {
  const chain = externalChain(plan);
  if (chain === undefined) return;
  const rules = builder.chain(chainId("nat", chain));
  const { cluster, local } = plan.chains;
  const hasCluster = plan.outcomes.cluster.kind === "targets";
  if (plan.service.externalTrafficPolicy === "Cluster") {
    const masquerade = comment(
      context,
      () => `masquerade traffic for ${plan.name} external destinations`,
    );
    rules.push(renderRule({ ...masquerade, target: MARK }), renderRule({ target: cluster }));
    return;
  }
  // Where all endpoints are unfit, who is bound to them is refused: it must not go on to the local ones.
  const insiders = hasCluster ? cluster : "RETURN";
  const fromWorkloads = comment(
    context,
    () => `pod traffic for ${plan.name} external destinations`,
  );
  for (const match of context.localMatches?.local ?? []) {
    rules.push(renderRule({ ...match, ...fromWorkloads, target: insiders }));
  }
  const matches = [FROM_THIS_NODE];
  if (hasCluster) {
    const masquerade = comment(
      context,
      () => `masquerade LOCAL traffic for ${plan.name} external destinations`,
    );
    rules.push(renderRule({ ...masquerade, matches, target: MARK }));
  }
  const route = comment(
    context,
    () => `route LOCAL traffic for ${plan.name} external destinations`,
  );
  rules.push(renderRule({ ...route, matches, target: insiders }));
  if (plan.outcomes.local.kind === "targets") rules.push(renderRule({ target: local }));
}

function affinityMatches(
  { service }: PortPlan,
  { family }: PlanContext,
  list: string,
  what: "check" | "remember",
): readonly string[] {
  const seconds = service.affinitySeconds;
  if (seconds === 0) return [];
  const act = what === "check" ? `--rcheck --seconds ${seconds} --reap` : "--set";
  return [`-m recent ${act} --name ${list} --mask ${HOST_MASK[family]} --rsource`];
}

/** What a rule is for, where rules say it; else it is not even worked out. */
export function comment(context: PlanContext, say: () => string): { readonly comment?: string } {
  return context.isLarge ? UNSAID : { comment: say() };
}

const UNSAID: { readonly comment?: string } = {};
