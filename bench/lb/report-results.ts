import { cpus, totalmem } from "node:os";
import { median } from "../support/measure.ts";
import { type Figure, isMet, renderTable } from "../support/report.ts";
import { type Comparison, ratios, roundRatios } from "./compare.ts";
import type { Extra } from "./extra.ts";
import { idleConnections } from "./idle-memory.ts";
import type { LatencyComparison } from "./latency.ts";
import { PROXY_LABELS, type ProxyName } from "./proxies.ts";
import { labelOf, renderRates } from "./render-comparisons.ts";

const BYTES_A_KILOBYTE = 1024;
const BYTES_A_GIGABYTE = 1024 ** 3;

/** All that was measured. */
export interface Results {
  readonly comparisons: readonly Comparison[];
  readonly latency: LatencyComparison | undefined;
  /** Resident bytes of an idle connection, the most that was seen. */
  readonly memory: ReadonlyMap<ProxyName, number>;
  readonly extras: ReadonlyMap<string, Extra>;
}

/** `2 cores, 24 GB, 2026-11-16`. */
export function circumstances(): { readonly machine: string; readonly date: string } {
  const { length: cores } = cpus();
  const machine = `${cores} cores, ${Math.round(totalmem() / BYTES_A_GIGABYTE)} GB`;
  return { machine, date: new Date().toISOString().slice(0, 10) };
}

export function figuresOf({ comparisons, latency, memory, extras }: Results): readonly Figure[] {
  return [
    ...comparisons.map(ratioFigure),
    ...(latency === undefined ? [] : [latencyFigure(latency)]),
    ...memoryFigures(memory),
    ...[...extras.values()].flatMap((extra) => extra.figures),
  ];
}

/** For people. */
export function renderResults(results: Results): string {
  const { comparisons, latency, memory, extras } = results;
  const parts = [
    ...(comparisons.length === 0 ? [] : [renderRates(comparisons)]),
    ...(latency === undefined ? [] : [renderLatency(latency)]),
    ...(memory.size === 0 ? [] : [renderMemory(memory)]),
    ...[...extras.values()].map(({ text }) => text),
  ];
  return `${parts.join("\n")}\n\n${renderTable(figuresOf(results))}`;
}

/** For machines. */
export function resultsAsJson(results: Results): string {
  const { comparisons, latency, memory, extras } = results;
  const value = {
    ...circumstances(),
    perCpuSecond: comparisons.map(({ load, threads, perCpuSecond }) => ({
      load: load.name,
      unit: load.unit,
      threads,
      values: Object.fromEntries(perCpuSecond),
    })),
    latency: latency && { ...latency, p99Ms: Object.fromEntries(latency.p99Ms) },
    idleConnectionBytes: Object.fromEntries(memory),
    extras: Object.fromEntries([...extras].map(([name, { values }]) => [name, values])),
    figures: figuresOf(results).map((figure) => ({ ...figure, met: isMet(figure) })),
  };
  return JSON.stringify(value, undefined, 2);
}

function ratioFigure(comparison: Comparison): Figure {
  const value = median(ratios(comparison, "portolan", "haproxy"));
  const name = `${labelOf(comparison)}: for a CPU-second, to HAProxy's`;
  return { name, value, unit: "times", limit: 1, bound: "least" };
}

function latencyFigure({ p99Ms }: LatencyComparison): Figure {
  const value = median(roundRatios(p99Ms, "portolan", "haproxy"));
  const name = "latency p99 in an open loop at half of HAProxy's maximum, to HAProxy's";
  return { name, value, unit: "times", limit: 1.1 };
}

function memoryFigures(memory: ReadonlyMap<ProxyName, number>): readonly Figure[] {
  const bytes = memory.get("portolan");
  if (bytes === undefined) return [];
  const name = "resident memory of an idle connection";
  return [{ name, value: bytes / BYTES_A_KILOBYTE, unit: "KB", limit: 10 }];
}

function renderLatency({ rate, p99Ms, directP99Ms }: LatencyComparison): string {
  const rows = [...p99Ms].map(([name, values]) => {
    return `  ${PROXY_LABELS[name].padEnd(14)}${median(values).toFixed(2)} ms`;
  });
  const direct = `  ${"no proxy".padEnd(14)}${directP99Ms.toFixed(2)} ms`;
  return [`latency p99 at ${rate} requests a second in an open loop`, ...rows, direct].join("\n");
}

function renderMemory(memory: ReadonlyMap<ProxyName, number>): string {
  const rows = [...memory].map(([name, bytes]) => {
    return `  ${PROXY_LABELS[name].padEnd(14)}${(bytes / BYTES_A_KILOBYTE).toFixed(1)} KB`;
  });
  return [`resident memory of each of ${idleConnections()} idle connections`, ...rows].join("\n");
}
