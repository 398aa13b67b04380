/**
 * The userspace proxy as it is shipped, with its defaults, beside HAProxy, nginx and a plain proxy on
 * `node:net`: what each does for a CPU-second of its own process, and what an idle connection takes.
 *
 *     npm run bench -- lb [--quick] [--json] [--save] [--only socks5|udp|tls]
 *
 * quick: few and short rounds, to see that it works. save: writes docs/images/bench-lb.svg. only: that
 * part alone.
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { type Comparison, compare, type Proxies, ratios, roundRatios } from "./lb/compare.ts";
import type { Extra, ExtraOptions } from "./lb/extra.ts";
import { startHttpServers } from "./lb/http-servers.ts";
import { idleConnections, measureIdleMemory } from "./lb/idle-memory.ts";
import { compareLatency, type LatencyComparison } from "./lb/latency.ts";
import { LOADS } from "./lb/loads.ts";
import {
  PROXY_LABELS,
  type ProxyName,
  type ProxyProcess,
  type ProxySetting,
  startProxy,
} from "./lb/proxies.ts";
import { labelOf, renderPlot, renderRates } from "./lb/render-comparisons.ts";
import { compareSocks5 } from "./lb/socks5.ts";
import { compareTls } from "./lb/tls.ts";
import { measureUdp } from "./lb/udp.ts";
import { median } from "./support/measure.ts";
import { type Figure, isMet, renderTable } from "./support/report.ts";

const isQuick = process.argv.includes("--quick");
const ROUNDS = isQuick ? 1 : 5;
const SECONDS = isQuick ? 1 : 3;
const MEMORY_ROUNDS = isQuick ? 1 : 3;
const PLOT = new URL("../../../docs/images/bench-lb.svg", import.meta.url);
const BYTES_A_KILOBYTE = 1024;
const BYTES_A_GIGABYTE = 1024 ** 3;

/** Who is compared with how many threads; the plain proxy has only one. */
const CONTESTS: readonly { readonly threads: number; readonly names: readonly ProxyName[] }[] = [
  { threads: 1, names: ["portolan", "haproxy", "nginx", "node"] },
  { threads: 2, names: ["portolan", "haproxy", "nginx"] },
];

/** What is measured beside the loads of HTTP. */
const EXTRAS: ReadonlyMap<string, (options: ExtraOptions) => Promise<Extra>> = new Map([
  ["socks5", compareSocks5],
  ["udp", measureUdp],
  ["tls", compareTls],
]);

const folder = mkdtempSync(join(tmpdir(), "portolan-bench-"));
// The workers of nginx run as another user where we are root.
chmodSync(folder, 0o755);
try {
  const only = process.argv[process.argv.indexOf("--only") + 1];
  if (process.argv.includes("--only")) await benchmarkOnly(only ?? "");
  else await benchmark();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function benchmark(): Promise<void> {
  const servers = await startHttpServers(folder);
  const comparisons: Comparison[] = [];
  const memory = new Map<ProxyName, number>();
  const extras = new Map<string, Extra>();
  let latency: LatencyComparison | undefined;
  try {
    for (const { threads, names } of CONTESTS) {
      const setting = { folder, serverPorts: servers.ports, threads };
      await withProxies(names, setting, async (proxies) => {
        for (const load of LOADS) {
          console.error(`lb: ${load.name}, ${threads} threads`);
          comparisons.push(
            await compare(load, proxies, { ...setting, rounds: ROUNDS, seconds: SECONDS }),
          );
        }
        if (threads > 1) return;
        console.error("lb: latency in an open loop");
        latency = await compareLatency(proxies, {
          folder,
          rounds: ROUNDS,
          seconds: SECONDS,
          serverPort: servers.port,
        });
      });
    }
    for (const name of ["portolan", "haproxy", "nginx"] as const) {
      console.error(`lb: ${idleConnections()} idle connections through ${PROXY_LABELS[name]}`);
      const setting = { folder, serverPorts: servers.ports, threads: 1 };
      memory.set(name, await idleMemoryOf(name, setting));
    }
    for (const name of EXTRAS.keys()) extras.set(name, await runExtra(name, servers.ports));
  } finally {
    await servers.stop();
  }
  if (latency !== undefined) report({ comparisons, latency, memory, extras });
}

async function benchmarkOnly(name: string): Promise<void> {
  const servers = await startHttpServers(folder);
  try {
    const { text, figures } = await runExtra(name, servers.ports);
    console.log(`${text}\n\n${renderTable(figures)}`);
    if (!figures.every(isMet)) process.exitCode = 1;
  } finally {
    await servers.stop();
  }
}

async function runExtra(name: string, serverPorts: readonly number[]): Promise<Extra> {
  const run = EXTRAS.get(name);
  const known = [...EXTRAS.keys()].join(", ");
  if (run === undefined) throw new Error(`--only: "${name}" is not valid; expected ${known}`);
  console.error(`lb: ${name}`);
  return run({ folder, rounds: ROUNDS, seconds: SECONDS, serverPorts });
}

/** In fresh processes: when garbage was collected last makes a difference of a factor of two. */
async function idleMemoryOf(name: ProxyName, setting: ProxySetting): Promise<number> {
  const values: number[] = [];
  for (let round = 0; round < MEMORY_ROUNDS; round += 1) {
    await withProxies([name], setting, async (proxies) => {
      for (const [, proxy] of proxies) {
        values.push(await measureIdleMemory(proxy, idleConnections()));
      }
    });
  }
  return Math.max(...values);
}

/** All that was measured. */
interface Results {
  readonly comparisons: readonly Comparison[];
  readonly latency: LatencyComparison;
  /** Resident bytes of an idle connection, the most that was seen. */
  readonly memory: ReadonlyMap<ProxyName, number>;
  readonly extras: ReadonlyMap<string, Extra>;
}

function report(results: Results): void {
  const { comparisons, latency, memory, extras } = results;
  const figures = [
    ...comparisons.map(ratioFigure),
    latencyFigure(latency),
    memoryFigure(memory),
    ...[...extras.values()].flatMap((extra) => extra.figures),
  ];
  const { length: cores } = cpus();
  const machine = `${cores} cores, ${Math.round(totalmem() / BYTES_A_GIGABYTE)} GB`;
  const date = new Date().toISOString().slice(0, 10);
  if (process.argv.includes("--json")) {
    console.log(JSON.stringify(toJson(results, figures, { machine, date }), undefined, 2));
  } else {
    const parts = [
      renderRates(comparisons),
      renderLatency(latency),
      renderMemory(memory),
      ...[...extras.values()].map(({ text }) => text),
    ];
    console.log(`${parts.join("\n")}\n\n${renderTable(figures)}`);
  }
  if (process.argv.includes("--save")) {
    writeFileSync(PLOT, renderPlot(comparisons, `${machine}, ${date}; median of ${ROUNDS} rounds`));
  }
  if (!figures.every(isMet)) process.exitCode = 1;
}

/** Starts the proxies, and stops them whatever comes. */
async function withProxies(
  names: readonly ProxyName[],
  setting: ProxySetting,
  work: (proxies: Proxies) => Promise<void>,
): Promise<void> {
  const proxies = new Map<ProxyName, ProxyProcess>();
  try {
    for (const name of names) proxies.set(name, await startProxy(name, setting));
    await work(proxies);
  } finally {
    for (const [, proxy] of proxies) await proxy.stop();
  }
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

function memoryFigure(memory: ReadonlyMap<ProxyName, number>): Figure {
  const value = (memory.get("portolan") ?? Number.NaN) / BYTES_A_KILOBYTE;
  return { name: "resident memory of an idle connection", value, unit: "KB", limit: 10 };
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

function toJson(
  { comparisons, latency, memory, extras }: Results,
  figures: readonly Figure[],
  circumstances: { readonly machine: string; readonly date: string },
): object {
  return {
    ...circumstances,
    perCpuSecond: comparisons.map(({ load, threads, perCpuSecond }) => ({
      load: load.name,
      unit: load.unit,
      threads,
      values: Object.fromEntries(perCpuSecond),
    })),
    latency: { ...latency, p99Ms: Object.fromEntries(latency.p99Ms) },
    idleConnectionBytes: Object.fromEntries(memory),
    extras: Object.fromEntries([...extras].map(([name, { values }]) => [name, values])),
    figures: figures.map((figure) => ({ ...figure, met: isMet(figure) })),
  };
}
