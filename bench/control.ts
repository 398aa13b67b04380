/**
 * A running instance changed through its HTTP API while it is under load: servers, weights, groups,
 * listeners and certificates come, change and go, and no request may fail. Then a large configuration is
 * loaded, and others are answered meanwhile.
 *
 *     npm run bench -- control [--quick] [--json]
 *
 * quick: 100 changes in place of 1,000, 10,000 commands in place of 100,000.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Api, createApi } from "./control/api.ts";
import { type BigLoad, loadMany } from "./control/big-load.ts";
import { changesInTurn, prepare } from "./control/changes.ts";
import { startUp } from "./control/start-up.ts";
import { startHttpServers } from "./lb/http-servers.ts";
import { LOADS, runLoad } from "./lb/loads.ts";
import { freePort } from "./lb/service-process.ts";
import { runTask } from "./support/child.ts";
import { median } from "./support/measure.ts";
import { type Figure, isMet, renderJson, renderTable } from "./support/report.ts";
import { numbersFrom } from "./support/results.ts";

const CHANGES = process.argv.includes("--quick") ? 100 : 1000;
/** Between two changes, so that they happen at many moments of the load. */
const PAUSE_MS = 10;
/** Longer than the changes take; the load ends by itself after that. */
const LOAD_SECONDS = process.argv.includes("--quick") ? 5 : 40;
const SHORT_RATE = 2000;
const MOST_MEDIAN_MS = 50;
const COMMANDS = process.argv.includes("--quick") ? 10_000 : 100_000;
const MOST_WAIT_MS = 250;
const P99 = 0.99;
const SHORT_CALLS = new URL("./control/tasks/short-calls.js", import.meta.url);

const folder = mkdtempSync(join(tmpdir(), "portolan-bench-"));
try {
  const figures = await measure();
  console.log(process.argv.includes("--json") ? renderJson(figures) : renderTable(figures));
  if (!figures.every(isMet)) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measure(): Promise<readonly Figure[]> {
  const servers = await startHttpServers(folder);
  const ports = {
    api: await freePort(),
    web: await freePort(),
    short: await freePort(),
    tls: await freePort(),
    extra: await freePort(),
  };
  const instance = await startUp(folder, ports.api);
  try {
    const api = createApi(ports.api);
    const setting = { folder, ports, serverPorts: servers.ports };
    await prepare(api, setting);
    const [keepAlive] = LOADS;
    if (keepAlive === undefined) throw new Error("there is no load of requests");
    const load = runLoad(keepAlive, ports.web, { folder, seconds: LOAD_SECONDS });
    const short = runTask(SHORT_CALLS, [
      String(ports.short),
      String(SHORT_RATE),
      String(LOAD_SECONDS),
    ]);
    const timesMs = await timesOf(api, changesInTurn(api, setting));
    const { requests } = await load;
    const calls = numbersFrom(await short, ["made", "failed"]);
    return [
      ...figuresOf(timesMs, requests, calls),
      ...loadFigures(await loadMany(api, folder, COMMANDS)),
    ];
  } finally {
    await instance.stop();
    await servers.stop();
  }
}

async function timesOf(
  api: Api,
  changes: Iterator<() => Promise<void>, void>,
): Promise<readonly number[]> {
  const timesMs: number[] = [];
  while (timesMs.length < CHANGES) {
    const next = changes.next();
    if (next.done === true) break;
    const startMs = performance.now();
    await next.value();
    timesMs.push(performance.now() - startMs);
    await api.pause(PAUSE_MS);
  }
  return timesMs;
}

function loadFigures({ loadMs, looksMs, changesMs }: BigLoad): readonly Figure[] {
  const waited = (name: string, timesMs: readonly number[]): readonly Figure[] => [
    { name: `  ${name}, median`, value: median(timesMs), unit: "ms", limit: MOST_MEDIAN_MS },
    { name: `  ${name}, longest`, value: Math.max(...timesMs), unit: "ms", limit: MOST_WAIT_MS },
  ];
  return [
    { name: `a load of ${COMMANDS} commands`, value: loadMs, unit: "ms" },
    ...waited("others who look meanwhile", looksMs),
    ...waited("others who change meanwhile", changesMs),
  ];
}

function figuresOf(
  timesMs: readonly number[],
  requests: number,
  { made, failed }: Readonly<Record<"made" | "failed", number>>,
): readonly Figure[] {
  const sorted = [...timesMs].sort((a, b) => a - b);
  const p99Ms = sorted[Math.floor(sorted.length * P99)] ?? 0;
  return [
    { name: "changes through the API", value: timesMs.length, unit: "changes" },
    {
      name: "  answered, in the median",
      value: median(timesMs),
      unit: "ms",
      limit: MOST_MEDIAN_MS,
    },
    { name: "  answered, 99 of 100", value: p99Ms, unit: "ms" },
    // One that fails ends the benchmark.
    { name: "keep-alive requests in that time, all answered", value: requests, unit: "requests" },
    { name: `short connections, ${SHORT_RATE} a second`, value: made, unit: "connections" },
    { name: "  failed", value: failed, unit: "connections", limit: 0 },
  ];
}
