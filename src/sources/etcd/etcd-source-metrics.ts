import {
  describeFollowed,
  FollowCounts,
  followFamilies,
  plural,
} from "../../core/metrics/follow-counts.ts";
import type { MetricFamily } from "../../core/metrics/metric-family.ts";
import { RequestTimes } from "../../core/metrics/request-times.ts";

/** Counts how an etcd is followed. */
export class EtcdSourceMetrics {
  readonly counts: FollowCounts = new FollowCounts(() => performance.now());
  readonly requests: RequestTimes = new RequestTimes();
  /** Of the last change that was taken. */
  revision = 0;
  compactions = 0;

  families(): readonly MetricFamily[] {
    const one = (value: number) => [{ labels: {}, value }];
    return [
      {
        name: "etcd_revision",
        help: "Revision of etcd of the last change that was taken",
        kind: "gauge",
        samples: one(this.revision),
      },
      {
        name: "etcd_compactions_total",
        help: "Times that etcd had compacted away what was missed",
        kind: "counter",
        samples: one(this.compactions),
      },
      ...followFamilies("etcd", [{ labels: {}, counts: this.counts }]),
      ...this.requests.families("etcd"),
    ];
  }

  /** For people. */
  details(): string {
    const meanMs = this.requests.meanMs();
    return [
      `revision ${this.revision}`,
      describeFollowed([this.counts]),
      ...(this.compactions === 0 ? [] : [plural(this.compactions, "compaction")]),
      ...(meanMs === undefined ? [] : [`requests take ${meanMs.toFixed(1)} ms`]),
    ].join(", ");
  }
}
