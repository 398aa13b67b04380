import { FAMILIES, type Family, familyOf, isWildcard } from "../../../core/model/address.ts";
import type { FlowFilter } from "../../../wire/netlink/conntrack/encode-requests.ts";
import type { FlowTarget } from "./flow-targets.ts";

/**
 * Up to here each target is asked for by itself: the kernel walks its whole table for each, at a small
 * part of what a flow costs that it has to tell. Measured by `npm run bench -- conntrack`.
 */
const MAX_EXACT_DUMPS = 8;

/** What to ask the kernel for so that it tells as little as can be beside the flows of the targets. */
export function planDumps(targets: readonly FlowTarget[]): readonly FlowFilter[] {
  const exact = uniqueFilters(targets, exactFilter);
  return exact.length <= MAX_EXACT_DUMPS
    ? exact
    : uniqueFilters(targets, ({ protocol }, family) => ({ family, protocol }));
}

function exactFilter({ protocol, ip, port }: FlowTarget, family: Family): FlowFilter {
  const filter = { family, protocol, dstPort: port };
  return family === "v4" && ip !== "" && !isWildcard(ip) ? { ...filter, dst: ip } : filter;
}

/** A node port is of both families. */
function uniqueFilters(
  targets: readonly FlowTarget[],
  filterOf: (target: FlowTarget, family: Family) => FlowFilter,
): readonly FlowFilter[] {
  const filters = new Map<string, FlowFilter>();
  for (const target of targets) {
    for (const family of target.ip === "" ? FAMILIES : [familyOf(target.ip)]) {
      const filter = filterOf(target, family);
      filters.set(JSON.stringify(filter), filter);
    }
  }
  return [...filters.values()];
}
