import type { MetricFamily, MetricSample } from "./metric-family.ts";

const MS_PER_SECOND = 1000;

/** How one thing is followed: a prefix of etcd, a resource of Kubernetes. */
export class FollowCounts {
  readonly #nowMs: () => number;
  /** When changes stopped to come, or were not yet followed; undefined while they are. */
  #sinceMs: number | undefined;
  #begun = 0;
  #lists = 0;
  #events = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#sinceMs = nowMs();
  }

  /** All there is was read. */
  listed(): void {
    this.#lists += 1;
  }

  /** From now on changes come. */
  following(): void {
    this.#begun += 1;
    this.#sinceMs = undefined;
  }

  lost(): void {
    this.#sinceMs ??= this.#nowMs();
  }

  changed(events: number): void {
    this.#events += events;
  }

  get events(): number {
    return this.#events;
  }

  get reconnects(): number {
    return Math.max(0, this.#begun - 1);
  }

  get relists(): number {
    return Math.max(0, this.#lists - 1);
  }

  get staleSeconds(): number {
    return this.#sinceMs === undefined ? 0 : (this.#nowMs() - this.#sinceMs) / MS_PER_SECOND;
  }
}

interface Labelled {
  readonly labels: MetricSample["labels"];
  readonly counts: FollowCounts;
}

/** @param prefix whom is followed: `etcd` */
export function followFamilies(
  prefix: string,
  followed: readonly Labelled[],
): readonly MetricFamily[] {
  const family = (
    name: string,
    kind: MetricFamily["kind"],
    help: string,
    read: (counts: FollowCounts) => number,
  ): MetricFamily => ({
    name: `${prefix}_${name}`,
    help,
    kind,
    samples: followed.map(({ labels, counts }) => ({ labels, value: read(counts) })),
  });
  return [
    family("events_total", "counter", "Changes that were told", ({ events }) => events),
    family(
      "reconnects_total",
      "counter",
      "Times that changes were followed again after that had ended",
      ({ reconnects }) => reconnects,
    ),
    family(
      "relists_total",
      "counter",
      "Times that all was read again because changes were missed",
      ({ relists }) => relists,
    ),
    family(
      "stale_seconds",
      "gauge",
      "How long no changes come: what is known may be so old; 0 while they are followed",
      ({ staleSeconds }) => staleSeconds,
    ),
  ];
}

/** For people: `12 events, 1 reconnect`; what is 0 is left out, but for the events. */
export function describeFollowed(followed: readonly FollowCounts[]): string {
  const sum = (read: (counts: FollowCounts) => number): number =>
    followed.reduce((total, counts) => total + read(counts), 0);
  const stale = Math.max(0, ...followed.map(({ staleSeconds }) => staleSeconds));
  const reconnects = sum((counts) => counts.reconnects);
  const relists = sum((counts) => counts.relists);
  return [
    plural(
      sum(({ events }) => events),
      "event",
    ),
    ...(reconnects === 0 ? [] : [plural(reconnects, "reconnect")]),
    ...(relists === 0 ? [] : [`${relists} times read anew`]),
    ...(stale === 0 ? [] : [`no changes for ${stale.toFixed(0)} s`]),
  ].join(", ");
}

export function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
