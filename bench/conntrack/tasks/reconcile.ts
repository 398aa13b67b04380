/** `reconcile FLOWS`: fills the table of this network namespace and prints what reconciling it costs. */
import { execFileSync } from "node:child_process";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { createConntrackReconciler } from "../../../src/platform/linux/conntrack/conntrack-reconciler.ts";
import { openConntrackTable } from "../../../src/platform/linux/conntrack/conntrack-table.ts";
import { median } from "../../support/measure.ts";
import { createFlows } from "../create-flows.ts";
import { flowOf, keyOf, serviceOf } from "../services.ts";

const SERVICES = 1000;
/** So many services get other endpoints at once. */
const CHANGED = 100;
const ROUNDS = 9;
const MS_PER_SECOND = 1000;
const US_PER_MS = 1000;
const NS_PER_MS = 1_000_000;

const flowCount = Number(process.argv[2]);
const numbers = Array.from({ length: SERVICES }, (_, number) => number);
const services = new Map(numbers.map((number) => [keyOf(number), serviceOf(number, 0)]));

/** Flows are tracked only where a rule asks for it. */
const RULES =
  "table ip t { chain c { type filter hook output priority 0; ct state new counter; }; }";
execFileSync("nft", ["-f", "-"], { input: RULES });
await createFlows(Array.from({ length: flowCount }, (_, index) => flowOf(index, SERVICES, "udp")));

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const first = await timed(async () => openReconciler().reconcile(services, services.keys()));
const held = delay.max / NS_PER_MS;
if (first.result.looked !== flowCount || first.result.removed !== 0) {
  throw new Error(`${JSON.stringify(first.result)} of ${flowCount} flows`);
}

const reconciler = openReconciler();
await reconciler.reconcile(services, services.keys());
const oneService: number[] = [];
for (let round = 1; round <= ROUNDS; round += 1) oneService.push(await changeAndBack());

const toolCpuMs = cpuMsOfTool();

const changed = numbers.slice(0, CHANGED);
for (const number of changed) services.set(keyOf(number), serviceOf(number, 1));
const many = await timed(() => reconciler.reconcile(services, changed.map(keyOf)));
const wanted = (flowCount / SERVICES) * CHANGED;
if (many.result.removed !== wanted) throw new Error(`${many.result.removed} of ${wanted} removed`);
reconciler.close();

const figures = {
  firstCpuMs: first.cpuMs,
  held,
  oneServiceCpuMs: median(oneService),
  toolCpuMs,
  manyCpuMs: many.cpuMs,
  removed: many.result.removed,
};
console.log(JSON.stringify(figures));

function openReconciler() {
  return createConntrackReconciler({
    table: openConntrackTable(),
    addressTypes: new Set(["cluster-ip"]),
    answersNodePorts: () => false,
  });
}

/** The endpoints of a service that has no flows come and go: nothing is to be removed. */
async function changeAndBack(): Promise<number> {
  const idle = SERVICES;
  services.set(keyOf(idle), serviceOf(idle, 0));
  const { cpuMs } = await timed(() => reconciler.reconcile(services, [keyOf(idle)]));
  services.delete(keyOf(idle));
  await reconciler.reconcile(services, [keyOf(idle)]);
  return cpuMs;
}

/** What the tool takes to list the same flows. */
function cpuMsOfTool(): number {
  const script = "TIMEFORMAT='%U %S'; time conntrack -L -p udp >/dev/null 2>&1";
  const text = execFileSync("bash", ["-c", `{ ${script}; } 2>&1`], { encoding: "utf8" });
  const [user = 0, system = 0] = text.trim().split(" ").map(Number);
  return (user + system) * MS_PER_SECOND;
}

async function timed<T>(work: () => Promise<T>): Promise<{ cpuMs: number; result: T }> {
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return { cpuMs: (user + system) / US_PER_MS, result };
}
