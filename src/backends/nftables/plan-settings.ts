import { CoreError } from "../../core/errors.ts";
import type { ValuesOf } from "../../core/options/option-spec.ts";
import { routePolicyOf } from "../../core/route/policy-options.ts";
import type { NFTABLES_OPTIONS } from "./options.ts";
import type { PlanSettings } from "./plan/table-facts.ts";

/** Shorter than IFNAMSIZ, and without what would end a quoted name. */
const INTERFACE_PREFIX = /^[A-Za-z0-9_.@:-]{1,15}$/;
/** Each look costs a call into the kernel, and where others write rules often a listing of the tables. */
const SHORTEST_CHECK_PERIOD_MS = 1000;

/** @throws CoreError ERR_USAGE */
export function planSettingsOf(
  options: ValuesOf<typeof NFTABLES_OPTIONS>,
  nodeName: string,
): PlanSettings {
  return {
    nodeName,
    policy: routePolicyOf(options),
    masqueradeBit: options.iptablesMasqueradeBit,
    podInterfacePrefixes: prefixesOf(options.podInterfaceNamePrefix),
  };
}

/**
 * How often what others changed is looked for, in milliseconds.
 * @throws CoreError ERR_CONFIG_INVALID
 */
export function checkPeriodOf({ syncPeriod }: ValuesOf<typeof NFTABLES_OPTIONS>): number {
  if (syncPeriod >= SHORTEST_CHECK_PERIOD_MS) return syncPeriod;
  throw new CoreError(
    "ERR_CONFIG_INVALID",
    `--sync-period: ${syncPeriod}ms is too short; expected 1s or more, such as 30s`,
  );
}

function prefixesOf(text: string): readonly string[] {
  return text.split(",").map((part) => {
    const prefix = part.trim();
    if (INTERFACE_PREFIX.test(prefix)) return prefix;
    throw new CoreError(
      "ERR_USAGE",
      `--pod-interface-name-prefix: "${prefix}" is not valid; expected beginnings of interface names such as veth, separated by commas`,
    );
  });
}
