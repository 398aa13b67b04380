import { EMPTY } from "../../../core/model/common.ts";
import type { BalancingMethod, Group } from "../../../core/model/group.ts";
import { groupsOf } from "../../../core/model/service.ts";
import type { ServiceEndpoints } from "../../../core/sinks/fullstate.ts";
import { leftOut } from "../../left-out.ts";
import type { SlotMethod } from "./frontend.ts";

const METHODS: Readonly<Partial<Record<BalancingMethod, SlotMethod>>> = {
  random: "random",
  "round-robin": "round-robin",
  "weighted-round-robin": "round-robin",
  "source-hash": "source-hash",
};

type Groups = ReadonlyMap<string, Group>;

/** At random where groups disagree, or want what can not be had. */
export function chooseMethod(item: ServiceEndpoints, groups: Groups): SlotMethod {
  const [first, ...others] = groupObjects(item, groups);
  if (first === undefined || others.some(({ method }) => method !== first.method)) return "random";
  return METHODS[first.method] ?? "random";
}

/** What the kernel can not do of what is asked for a service, in words. */
export function limitsOf(item: ServiceEndpoints, groups: Groups): readonly string[] {
  const limits: string[] = [];
  const own = groupObjects(item, groups);
  const methods = new Set(own.map(({ method }) => method));
  for (const method of methods) {
    if (METHODS[method] === undefined) {
      limits.push(`balancing by ${method} needs a proxy: endpoints are chosen at random`);
    }
  }
  if (methods.size > 1)
    limits.push("groups that balance differently: endpoints are chosen at random");
  if (own.some(({ healthCheck }) => healthCheck.protocol !== "none")) {
    limits.push("health checks need a proxy: every endpoint counts as healthy");
  }
  if (own.some(({ tls }) => tls !== undefined)) limits.push("TLS to servers needs a proxy");
  if (own.some(({ slowStartMs }) => slowStartMs > 0)) limits.push("slow start needs a proxy");
  limits.push(...leftOut(item.endpoints));
  if (item.service.service.edgeIPs.length > 0) {
    limits.push("edge addresses are served by the backend edge");
  }
  return limits;
}

function groupObjects(item: ServiceEndpoints, groups: Groups): readonly Group[] {
  if (groups.size === 0) return EMPTY;
  return groupsOf(item.service.service).flatMap(({ group }) => groups.get(group) ?? []);
}
