/**
 * The userspace proxy as it is shipped, with its defaults, beside HAProxy, nginx and a plain proxy on
 * `node:net`: what each does for a CPU-second of its own process, and what an idle connection takes.
 *
 *     npm run bench -- lb [--quick] [--json] [--save] [--only PART,...] [--threads N]
 *                         [--rounds N] [--seconds N] [--beside DIST]
 *
 * quick: few and short rounds, to see that it works. save: writes docs/images/bench-lb.svg. only: these
 * parts alone: keep-alive, short, bulk, latency, memory, socks5, udp, tls, http1. threads: with so many
 * only. beside: another build (its folder `dist`) in the same rounds, to see what a change did.
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArguments } from "./lb/arguments.ts";
import { type Comparison, compare, type Proxies } from "./lb/compare.ts";
import type { Extra, ExtraOptions } from "./lb/extra.ts";
import { type HttpServers, startHttpServers } from "./lb/http-servers.ts";
import { compareHttp1 } from "./lb/http1.ts";
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
import { renderPlot } from "./lb/render-comparisons.ts";
import {
  circumstances,
  figuresOf,
  type Results,
  renderResults,
  resultsAsJson,
} from "./lb/report-results.ts";
import { compareSocks5 } from "./lb/socks5.ts";
import { compareTls } from "./lb/tls.ts";
import { measureUdp } from "./lb/udp.ts";
import { isMet } from "./support/report.ts";

const PLOT = new URL("../../../docs/images/bench-lb.svg", import.meta.url);

/** Who is compared with how many threads; the plain proxy has only one. */
const CONTESTS: readonly { readonly threads: number; readonly names: readonly ProxyName[] }[] = [
  { threads: 1, names: ["portolan", "haproxy", "nginx", "node"] },
  { threads: 2, names: ["portolan", "haproxy", "nginx"] },
];

/** What is measured beside the loads of TCP. */
const EXTRAS: ReadonlyMap<string, (options: ExtraOptions) => Promise<Extra>> = new Map([
  ["socks5", compareSocks5],
  ["udp", measureUdp],
  ["tls", compareTls],
  ["http1", compareHttp1],
]);

const args = parseArguments(process.argv.slice(2), [
  ...LOADS.map(({ part }) => part),
  "latency",
  "memory",
  ...EXTRAS.keys(),
]);
const { wants, rounds, seconds, beside: otherBuild } = args;

const folder = mkdtempSync(join(tmpdir(), "portolan-bench-"));
// The workers of nginx run as another user where we are root.
chmodSync(folder, 0o755);
try {
  const servers = await startHttpServers(folder);
  try {
    report(await measureAll(servers));
  } finally {
    await servers.stop();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measureAll(servers: HttpServers): Promise<Results> {
  const setting = { folder, serverPorts: servers.ports, otherBuild };
  const comparisons: Comparison[] = [];
  let latency: LatencyComparison | undefined;
  for (const { threads, names } of CONTESTS) {
    if (args.threads !== undefined && args.threads !== threads) continue;
    const loads = LOADS.filter(({ part }) => wants(part));
    const wantsLatency = threads === 1 && wants("latency");
    if (loads.length === 0 && !wantsLatency) continue;
    await withProxies(namesOf(names), { ...setting, threads }, async (proxies) => {
      for (const load of loads) {
        console.error(`lb: ${load.name}, ${threads} threads`);
        comparisons.push(await compare(load, proxies, { folder, rounds, seconds, threads }));
      }
      if (!wantsLatency) return;
      console.error("lb: latency in an open loop");
      const { port: serverPort } = servers;
      latency = await compareLatency(proxies, { folder, rounds, seconds, serverPort });
    });
  }
  const memory = new Map<ProxyName, number>();
  for (const name of ["portolan", "haproxy", "nginx"] as const) {
    if (!wants("memory")) continue;
    console.error(`lb: ${idleConnections()} idle connections through ${PROXY_LABELS[name]}`);
    memory.set(name, await idleMemoryOf(name, { ...setting, threads: 1 }));
  }
  const extras = new Map<string, Extra>();
  for (const [name, run] of EXTRAS) {
    if (!wants(name)) continue;
    console.error(`lb: ${name}`);
    extras.set(name, await run({ ...setting, rounds, seconds }));
  }
  return { comparisons, latency, memory, extras };
}

/** Beside another build, what takes long and says nothing about the two is left out. */
function namesOf(names: readonly ProxyName[]): readonly ProxyName[] {
  return otherBuild === undefined ? names : ["portolan", "other", "haproxy"];
}

/** In fresh processes: when garbage was collected last makes a difference of a factor of two. */
async function idleMemoryOf(name: ProxyName, setting: ProxySetting): Promise<number> {
  const values: number[] = [];
  for (let round = 0; round < (args.isQuick ? 1 : 3); round += 1) {
    await withProxies([name], setting, async (proxies) => {
      for (const [, proxy] of proxies) {
        values.push(await measureIdleMemory(proxy, idleConnections()));
      }
    });
  }
  return Math.max(...values);
}

function report(results: Results): void {
  console.log(args.isJson ? resultsAsJson(results) : renderResults(results));
  if (args.saves) {
    const { machine, date } = circumstances();
    const subtitle = `${machine}, ${date}; median of ${rounds} rounds`;
    writeFileSync(PLOT, renderPlot(results.comparisons, subtitle));
  }
  if (!figuresOf(results).every(isMet)) process.exitCode = 1;
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
