import { type BarChart, renderBarChart } from "../support/bar-chart.ts";
import { median } from "../support/measure.ts";
import { type Comparison, ratios } from "./compare.ts";
import { PROXY_LABELS, type ProxyName } from "./proxies.ts";

const COLOURS: Readonly<Record<ProxyName, string>> = {
  portolan: "#8c3b2a",
  other: "#c98b6b",
  haproxy: "#24506b",
  nginx: "#6f9bb3",
  node: "#b9ad8f",
};

const PEER: ProxyName = "haproxy";

/** Each proxy's work for a CPU-second, for people. */
export function renderRates(comparisons: readonly Comparison[]): string {
  return comparisons
    .flatMap((comparison) => [
      labelOf(comparison),
      ...[...comparison.perCpuSecond].map(([name, values]) => {
        const ratio = showRatios(ratios(comparison, name, PEER));
        const rate = `${show(median(values))} ${comparison.load.unit} a CPU-second`;
        return `  ${PROXY_LABELS[name].padEnd(14)}${rate.padEnd(36)}${ratio}`;
      }),
    ])
    .join("\n");
}

/** The spread stands beside the median: what is smaller than it says nothing. */
function showRatios(values: readonly number[]): string {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const spread = low === high ? "" : ` (${low.toFixed(2)} to ${high.toFixed(2)})`;
  return `${median(values).toFixed(2)} times HAProxy's${spread}`;
}

/** The same as a picture. */
export function renderPlot(comparisons: readonly Comparison[], subtitle: string): string {
  const groups = comparisons.map((comparison): BarChart["groups"][number] => ({
    label: labelOf(comparison),
    bars: [...comparison.perCpuSecond].map(([name, values]) => ({
      series: PROXY_LABELS[name],
      value: median(ratios(comparison, name, PEER)),
      text: `${show(median(values))} ${comparison.load.unit}`,
    })),
  }));
  const names = new Set(comparisons.flatMap(({ perCpuSecond }) => [...perCpuSecond.keys()]));
  return renderBarChart({
    title: "Work for a CPU-second of the proxy",
    subtitle,
    one: "as much as HAProxy",
    series: new Map([...names].map((name) => [PROXY_LABELS[name], COLOURS[name]])),
    groups,
  });
}

/** `short connections, 2 threads`. */
export function labelOf({ load, threads }: Comparison): string {
  return `${load.name}, ${threads} ${threads === 1 ? "thread" : "threads"}`;
}

function show(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3);
}
