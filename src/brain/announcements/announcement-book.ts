import type { MetricFamily } from "../../core/metrics/metric-family.ts";
import type { AnnounceRequest, WithdrawRequest } from "./announced-instance.ts";

/** Who owns what instances announce over the API. */
export const ANNOUNCED_OWNER = "announced";
/** More is a mistake of somebody. */
export const MAX_ANNOUNCEMENTS = 100_000;

/** What instances of services say of themselves. */
export interface AnnouncementBook {
  /** @throws CoreError ERR_KEY_TAKEN, ERR_EXHAUSTED, ERR_ETCD_UNREACHABLE */
  announce(request: AnnounceRequest): void | Promise<void>;
  /** @returns whether it was there, and of that announcer */
  withdraw(request: WithdrawRequest): boolean | Promise<boolean>;
  metrics(): readonly MetricFamily[];
  close(): Promise<void>;
}

export function announcedInstances(count: number): MetricFamily {
  return {
    name: "announced_instances",
    help: "Instances of services that are announced now",
    kind: "gauge",
    samples: [{ labels: {}, value: count }],
  };
}
