/**
 * The spine: from text to operations, one change, one change to a thousand nodes, the whole state over
 * gRPC. Every task runs in processes of its own; targets stand beside the figures.
 *
 *     npm run bench -- core [--json]
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { runTask } from "./support/child.ts";
import { FULL_SIZE } from "./support/cluster.ts";
import { asJson, asYaml, createManifests } from "./support/manifests.ts";
import { median } from "./support/measure.ts";
import { type Figure, isMet, renderJson, renderTable } from "./support/report.ts";
import { numberFrom, numbersFrom } from "./support/results.ts";

const SMALL_SERVICES = 1000;
const ROUNDS = 3;

const folder = mkdtempSync(join(tmpdir(), "portolan-bench-"));
try {
  const figures = await measureAll({
    json: join(folder, "state.json"),
    yaml: join(folder, "state.yaml"),
    small: join(folder, "small.json"),
  });
  console.log(process.argv.includes("--json") ? renderJson(figures) : renderTable(figures));
  if (!figures.every(isMet)) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The state as files: whole in two languages, and with a tenth of the services. */
interface StateFiles {
  readonly json: string;
  readonly yaml: string;
  readonly small: string;
}

async function measureAll(files: StateFiles): Promise<readonly Figure[]> {
  const manifests = createManifests(FULL_SIZE);
  writeFileSync(files.json, asJson(manifests));
  writeFileSync(files.yaml, asYaml(manifests));
  writeFileSync(files.small, asJson(createManifests({ ...FULL_SIZE, services: SMALL_SERVICES })));
  return [
    ...(await measureLoad(files)),
    ...(await measureChange(files)),
    ...(await measureWatchers(files)),
    await measureApi(files),
  ];
}

async function measureLoad(files: StateFiles): Promise<readonly Figure[]> {
  const load = async (file: string) =>
    numbersFrom(await task("load", file), ["cpuMs", "peakMegabytes"]);
  const json = await rounds(() => load(files.json));
  const yaml = await load(files.yaml);
  const cpuMs = median(json.map((one) => one.cpuMs));
  const peakMegabytes = median(json.map((one) => one.peakMegabytes));
  return [
    figure("JSON text to one node's operations", cpuMs, "ms CPU", 2000),
    figure("  peak memory", peakMegabytes, "MB", 400),
    figure("YAML text to one node's operations", yaml.cpuMs, "ms CPU", 6000),
  ];
}

/** Small and large in turn, so that a slow moment of the machine meets both. */
async function measureChange(files: StateFiles): Promise<readonly Figure[]> {
  const small: number[] = [];
  const large: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    small.push(numberFrom(await task("change", files.small)));
    large.push(numberFrom(await task("change", files.json)));
  }
  return [
    figure("one endpoint's change, store to sink", median(large), "µs CPU", 200),
    figure(`  against ${SMALL_SERVICES} services`, median(large) / median(small), "times", 1.5),
  ];
}

async function measureWatchers(files: StateFiles): Promise<readonly Figure[]> {
  const { nodes } = FULL_SIZE;
  const watch = async (count: number) =>
    numbersFrom(await task("watchers", files.json, String(count)), ["megabytes", "cpuMs"]);
  const heapWith = async (variant: string) =>
    numberFrom(await task("stalled", files.json, variant));
  const one = await watch(1);
  const all = await watch(nodes);
  const stalled = (await heapWith("with")) - (await heapWith("without"));
  return [
    figure(`the same change to ${nodes} nodes`, all.cpuMs, "ms CPU", 100),
    figure(`  memory with ${nodes} watchers to one`, all.megabytes / one.megabytes, "times", 1.5),
    figure("  a watcher that stopped reading", stalled, "MB", 1),
  ];
}

async function measureApi(files: StateFiles): Promise<Figure> {
  const times = await rounds(() => task("api", files.json));
  return figure("whole state over gRPC", median(times.map(numberFrom)), "ms", 1500);
}

function figure(name: string, value: number, unit: string, limit: number): Figure {
  return { name, value, unit, limit };
}

function task(name: string, ...args: readonly string[]): Promise<unknown> {
  console.error(`core: ${name} ${args.map((arg) => basename(arg)).join(" ")}`);
  return runTask(new URL(`./core/${name}.js`, import.meta.url), args);
}

async function rounds<T>(run: () => Promise<T>): Promise<readonly T[]> {
  const results: T[] = [];
  for (let round = 0; round < ROUNDS; round += 1) results.push(await run());
  return results;
}
