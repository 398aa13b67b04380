import { CoreError } from "../../core/errors.ts";
import type { ValuesOf } from "../../core/options/option-spec.ts";
import { routePolicyOf } from "../../core/route/policy-options.ts";
import type { NFTABLES_OPTIONS } from "./options.ts";
import type { PlanSettings } from "./plan/table-facts.ts";

/** Shorter than IFNAMSIZ, and without what would end a quoted name. */
const INTERFACE_PREFIX = /^[A-Za-z0-9_.@:-]{1,15}$/;

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
