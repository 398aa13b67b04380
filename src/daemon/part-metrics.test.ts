import { expect, test } from "vitest";
import type { MetricFamily } from "../core/metrics/metric-family.ts";
import { renderPartMetrics } from "./part-metrics.ts";

const label = (value: string) => ({ name: "backend", value }) as const;

const family = (value: number, labels: Record<string, string>): MetricFamily => ({
  name: "listener_connections",
  help: "Open connections",
  kind: "gauge",
  samples: [{ labels, value }],
});

test("a family that two backends have appears once, with a line of each", () => {
  const text = renderPartMetrics(
    [
      { label: label("userspace"), read: () => [family(1, { listener: "a" })] },
      { label: label("userspace-2"), read: () => [family(2, { listener: "b" })] },
    ],
    "portolan_",
  );
  expect(text.split("\n")).toEqual([
    "# HELP portolan_listener_connections Open connections",
    "# TYPE portolan_listener_connections gauge",
    'portolan_listener_connections{backend="userspace",listener="a"} 1',
    'portolan_listener_connections{backend="userspace-2",listener="b"} 2',
    "",
  ]);
});

test("labels are escaped, parts of a histogram have their suffix", () => {
  const text = renderPartMetrics(
    [
      {
        label: label("b"),
        read: () => [
          {
            name: "latency_seconds",
            help: "Time",
            kind: "histogram",
            samples: [{ suffix: "_bucket", labels: { server: 'a"\\\n', le: "+Inf" }, value: 3 }],
          },
        ],
      },
    ],
    "p_",
  );
  expect(text).toContain(
    'p_latency_seconds_bucket{backend="b",server="a\\"\\\\\\n",le="+Inf"} 3\n',
  );
});

test("what is read is read anew each time", () => {
  let count = 0;
  const sources = [{ label: label("b"), read: () => [family(count++, {})] }];
  renderPartMetrics(sources, "");
  expect(renderPartMetrics(sources, "")).toContain("} 1\n");
});
