import {
  describeFollowed,
  FollowCounts,
  followFamilies,
} from "../../core/metrics/follow-counts.ts";
import type { MetricFamily } from "../../core/metrics/metric-family.ts";
import { RequestTimes } from "../../core/metrics/request-times.ts";

/** Counts how a cluster is followed. */
export class KubeSourceMetrics {
  readonly requests: RequestTimes = new RequestTimes();
  readonly #counts = new Map<string, FollowCounts>();

  /** @param resource `services` */
  countsOf(resource: string): FollowCounts {
    const counts = this.#counts.get(resource) ?? new FollowCounts(() => performance.now());
    this.#counts.set(resource, counts);
    return counts;
  }

  families(): readonly MetricFamily[] {
    const followed = [...this.#counts].map(([resource, counts]) => ({
      labels: { resource },
      counts,
    }));
    return [...followFamilies("kube", followed), ...this.requests.families("kube")];
  }

  /** For people. */
  details(): string {
    const meanMs = this.requests.meanMs();
    return [
      describeFollowed([...this.#counts.values()]),
      ...(meanMs === undefined ? [] : [`requests take ${meanMs.toFixed(1)} ms`]),
    ].join(", ");
  }
}
