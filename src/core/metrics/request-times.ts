import type { MetricFamily } from "./metric-family.ts";
import { Timings } from "./timings.ts";

const MS_PER_SECOND = 1000;

/** How long calls to a store of others take, and how many fail. */
export class RequestTimes {
  readonly #timings = new Map<string, Timings>();
  readonly #failures = new Map<string, number>();

  /** @param call few different words: `Range`, `list services` */
  took(call: string, seconds: number, isOk: boolean): void {
    const timings = this.#timings.get(call) ?? new Timings();
    this.#timings.set(call, timings);
    timings.took(seconds);
    this.#failures.set(call, (this.#failures.get(call) ?? 0) + (isOk ? 0 : 1));
  }

  /** Over all calls; undefined where there was none. */
  meanMs(): number | undefined {
    const all = [...this.#timings.values()];
    const count = all.reduce((sum, timings) => sum + timings.count, 0);
    if (count === 0) return undefined;
    return (all.reduce((sum, { sumSeconds }) => sum + sumSeconds, 0) / count) * MS_PER_SECOND;
  }

  /** @param prefix whom is asked: `etcd` */
  families(prefix: string): readonly MetricFamily[] {
    return [
      {
        name: `${prefix}_request_seconds`,
        help: "Time until a request was answered or failed",
        kind: "histogram",
        samples: [...this.#timings].flatMap(([call, timings]) => timings.samples({ call })),
      },
      {
        name: `${prefix}_request_failures_total`,
        help: "Requests that were refused or not answered",
        kind: "counter",
        samples: [...this.#failures].map(([call, value]) => ({ labels: { call }, value })),
      },
    ];
  }
}
