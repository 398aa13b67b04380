import type { BalancingMethod, Group } from "../../../core/model/group.ts";
import { groupsOf, type Service } from "../../../core/model/service.ts";
import {
  IP_VS_SVC_F_PERSISTENT,
  IP_VS_SVC_F_SCHED_FALLBACK,
} from "../../../wire/netlink/ipvs/ipvs-words.ts";
import type { Balancing } from "./service-info.ts";

export const SCHEDULERS = ["rr", "wrr", "lc", "wlc", "sh", "mh", "sed", "nq"] as const;

export type Scheduler = (typeof SCHEDULERS)[number];

/** Of a Service: the scheduler of its virtual servers. */
const SCHEDULER_ANNOTATION = "portolan/ipvs-scheduler";

/** Those that choose by the client's address. */
const HASHING: readonly string[] = ["sh", "mh"];
/** Those that do not look at weights. */
export const WITHOUT_WEIGHTS: readonly string[] = ["rr", "lc"];

const BY_METHOD: Readonly<Partial<Record<BalancingMethod, Scheduler>>> = {
  "round-robin": "wrr",
  "weighted-round-robin": "wrr",
  "least-connections": "wlc",
  "source-hash": "sh",
};

/** What is asked for by name. */
export interface SchedulerChoice {
  readonly scheduler: Scheduler;
  /** What can not be had, in words. */
  readonly limits: readonly string[];
}

/** The annotation decides, then the method of the groups, then the operator's default. */
export function chooseScheduler(
  service: Service,
  groups: ReadonlyMap<string, Group>,
  otherwise: Scheduler,
): SchedulerChoice {
  const asked = service.annotations[SCHEDULER_ANNOTATION];
  if (asked !== undefined) {
    const scheduler = SCHEDULERS.find((name) => name === asked);
    if (scheduler !== undefined) return { scheduler, limits: [] };
    const limit = `the annotation ${SCHEDULER_ANNOTATION} is "${asked}"; expected one of ${SCHEDULERS.join(", ")}: ${otherwise} is used`;
    return { scheduler: otherwise, limits: [limit] };
  }
  const methods = new Set(
    groupsOf(service).flatMap(({ group }) => groups.get(group)?.method ?? []),
  );
  const [method] = methods;
  if (method === undefined || method === "random") return { scheduler: otherwise, limits: [] };
  if (methods.size > 1) {
    return {
      scheduler: otherwise,
      limits: [`groups that balance differently: ${otherwise} is used`],
    };
  }
  const scheduler = BY_METHOD[method];
  if (scheduler !== undefined) return { scheduler, limits: [] };
  return {
    scheduler: otherwise,
    limits: [`balancing by ${method} needs a proxy: ${otherwise} is used`],
  };
}

export function balancingOf(scheduler: Scheduler, affinitySeconds: number): Balancing {
  // Without it, clients whose endpoint takes no new connections would be refused.
  const fallback = HASHING.includes(scheduler) ? IP_VS_SVC_F_SCHED_FALLBACK : 0;
  const persistent = affinitySeconds > 0 ? IP_VS_SVC_F_PERSISTENT : 0;
  return { scheduler, flags: fallback | persistent, persistenceSeconds: affinitySeconds };
}
