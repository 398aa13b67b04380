import type { Family } from "../../core/model/address.ts";
import type { ValuesOf } from "../../core/options/option-spec.ts";
import { routePolicyOf } from "../../core/route/policy-options.ts";
import type { RoutePolicy } from "../../core/route/route-policy.ts";
import { createPlanContext } from "../plan-context.ts";
import type { ProxierSetting } from "./family-proxier.ts";
import type { NodeRules } from "./node-rules.ts";
import type { IPTABLES_OPTIONS } from "./options.ts";

export type IptablesValues = ValuesOf<typeof IPTABLES_OPTIONS>;

/**
 * Above so many endpoints or services rules carry no comments, since what they say is long, and read by
 * nobody; and a new connection would walk over those of all services.
 */
const LARGE_CLUSTER = 1000;

function isLargeCluster({ endpointCount, serviceCount }: NodeRules): boolean {
  return Math.max(endpointCount, serviceCount) > LARGE_CLUSTER;
}

/** What is set when the backend starts, and as it grows. */
export interface FixedSetting {
  readonly policy: RoutePolicy;
  readonly masqueradeBit: number;
  readonly workloadInterfaces: readonly string[];
  readonly isLiberal: boolean;
  readonly isLarge: boolean;
}

/** @throws CoreError ERR_USAGE */
export function fixedSettingOf(
  options: IptablesValues,
  rules: NodeRules,
  isLiberal: boolean,
): FixedSetting {
  return {
    policy: routePolicyOf(options),
    masqueradeBit: options.iptablesMasqueradeBit,
    workloadInterfaces: interfacesOf(options.podInterfaceNamePrefix),
    isLiberal,
    isLarge: isLargeCluster(rules),
  };
}

/** A cluster that has grown large stays so until a restart: to change back and forth would rewrite all rules. */
export function grownSetting(fixed: FixedSetting, rules: NodeRules): FixedSetting {
  const isLarge = fixed.isLarge || isLargeCluster(rules);
  return isLarge === fixed.isLarge ? fixed : { ...fixed, isLarge };
}

/** `veth` matches as `veth+`. */
function interfacesOf(text: string): readonly string[] {
  const prefixes = text.split(",").map((part) => part.trim());
  return prefixes.filter((prefix) => prefix !== "").map((prefix) => `${prefix}+`);
}

/** What the rules of one family depend on now. */
export function proxierSettingOf(
  family: Family,
  fixed: FixedSetting,
  rules: NodeRules,
): ProxierSetting {
  const context = createPlanContext({ family, node: rules.node, ...fixed });
  const hasLoopback = context.nodePortDestinations.some((network) => network.startsWith("127."));
  return { context, guardsLoopback: family === "v4" && (hasLoopback || rules.answersOnLoopback) };
}
