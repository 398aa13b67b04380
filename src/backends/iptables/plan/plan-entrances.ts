import type { Protocol } from "../../../core/model/common.ts";
import { type ChainId, chainId } from "../../../platform/linux/iptables/chain-id.ts";
import {
  FROM_THIS_NODE,
  type RuleFields,
  refusalTarget,
  renderRule,
} from "../../../platform/linux/iptables/rule.ts";
import type { AccessList } from "../../access-list.ts";
import { FIREWALL, REFUSED_EXTERNAL } from "../../kube-chains.ts";
import type { PlanContext } from "../../plan-context.ts";
import type { GroupBuilder } from "./group-rules.ts";
import { type ServiceContext, shareByNetwork } from "./network-chains.ts";
import { comment, externalChain, type PortPlan } from "./plan-port-chains.ts";

/** An address and port that clients outside call. */
export interface Entrance {
  /** As networks. */
  readonly destinations: readonly string[];
  readonly protocol: Protocol;
  readonly port: number;
  /** The shared chain that leads to it. */
  readonly chain: ChainId;
  /** What leads to `chain` looked at the destinations already. */
  readonly isNodePort?: true;
  /** Undefined: everyone. */
  readonly access: AccessList | undefined;
  /** The chain that asks `access`. */
  readonly firewallChain: string;
  /** Where it leads; undefined where the service or its port do not exist: calls are rejected. */
  readonly plan: PortPlan | undefined;
  /** For people: `default/web:main external IP`. */
  readonly what: string;
}

/** The rules that let calls in, and those that refuse what was not led on. */
export function planEntrance(
  entrance: Entrance,
  context: ServiceContext,
  builder: GroupBuilder,
): void {
  const { access, plan } = entrance;
  const external = plan && externalChain(plan);
  const asked = access !== undefined && external !== undefined;
  if (asked) planAccess(access, external, entrance, context, builder);
  const target = asked ? entrance.firewallChain : external;
  if (target !== undefined) {
    for (const call of entrance.isNodePort ? [callTo(entrance)] : callsTo(entrance)) {
      const rule = renderRule({ ...call, ...comment(context, () => entrance.what), target });
      shareByNetwork(builder, entrance.chain, call.destination, context, [rule]);
    }
  }
  for (const call of callsTo(entrance)) {
    const { destination } = call;
    if (access !== undefined) {
      const denied = denials(access, call, entrance, context);
      shareByNetwork(builder, FIREWALL, destination, context, denied);
    }
    const refused = refusals(call, entrance, context);
    shareByNetwork(builder, REFUSED_EXTERNAL, destination, context, refused);
  }
}

type Call = Pick<RuleFields, "destination" | "protocol" | "port">;

function callTo({ protocol, port }: Entrance): Call {
  return { protocol, port };
}

function callsTo(entrance: Entrance): readonly Call[] {
  return entrance.destinations.map((destination) => ({ destination, ...callTo(entrance) }));
}

/** Whom the list lets in goes on; who comes back from it is dropped in the filter table. */
function planAccess(
  { entries, otherwise }: AccessList,
  external: string,
  { firewallChain, what }: Entrance,
  context: PlanContext,
  builder: GroupBuilder,
): void {
  const commented = comment(context, () => what);
  const rules = builder.chain(chainId("nat", firewallChain));
  for (const { network: source, access, ...to } of entries) {
    const target = access === "allow" ? external : "RETURN";
    rules.push(renderRule({ source, ...to, ...commented, target }));
  }
  if (otherwise === "allow") rules.push(renderRule({ ...commented, target: external }));
}

/**
 * Who is let in to endpoints has gone on to them: whoever still comes here is dropped. Only where calls
 * may be rejected do those that are let in have to be told from the others again.
 */
function denials(
  { entries, otherwise }: AccessList,
  call: Call,
  { plan, what }: Entrance,
  context: PlanContext,
): readonly string[] {
  const commented = comment(context, () => `${what} is not for everyone`);
  const drop = renderRule({ ...call, ...commented, target: "DROP" });
  if (!mayReject(plan)) return [drop];
  const rules = entries
    .filter(({ destination = call.destination }) => destination === call.destination)
    .map(({ network: source, access }) =>
      renderRule({ source, ...call, ...commented, target: access === "allow" ? "RETURN" : "DROP" }),
    );
  return otherwise === "deny" ? [...rules, drop] : rules;
}

function mayReject(plan: PortPlan | undefined): boolean {
  if (plan === undefined) return true;
  return plan.outcomes.cluster.kind === "reject" || plan.outcomes.local.kind === "reject";
}

/** For what was let in and has no endpoint. */
function refusals(call: Call, { plan, what }: Entrance, context: PlanContext): readonly string[] {
  const refuse = (kind: "reject" | "drop", who: Partial<RuleFields> = {}): string =>
    renderRule({
      ...who,
      ...call,
      ...comment(context, () => `${what} ${REASONS[kind]}`),
      target: refusalTarget(kind, context.family, call.protocol),
    });
  if (plan === undefined) return [refuse("reject")];
  const cluster = plan.outcomes.cluster.kind;
  const isLocal = plan.service.externalTrafficPolicy === "Local";
  const others = isLocal ? plan.outcomes.local.kind : cluster;
  if (others === "targets") return cluster === "targets" ? [] : [refuse(cluster)];
  if (cluster === "targets" || cluster === others) return [refuse(others)];
  const insiders: readonly Partial<RuleFields>[] = [
    ...(context.localMatches?.local ?? []),
    { matches: [FROM_THIS_NODE] },
  ];
  return [...insiders.map((who) => refuse(cluster, who)), refuse(others)];
}

/** What people know from kube-proxy. */
export const REASONS = { reject: "has no endpoints", drop: "has no local endpoints" } as const;
