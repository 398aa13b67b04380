/**
 * Tracked flows as desired state: what it costs to find and remove those that lead nowhere any more, by
 * flow, in a table of 100,000; beside conntrack-tools. Needs root; all happens in a network namespace
 * that it makes.
 *
 *     npm run bench -- conntrack [--json]
 */
import { NetworkNamespace } from "../src/platform/linux/network-namespace.ts";
import { runTask } from "./support/child.ts";
import { type Figure, isMet, renderJson, renderTable } from "./support/report.ts";
import { numbersFrom } from "./support/results.ts";

const FLOWS = 100_000;
const US_PER_MS = 1000;
const TASK = new URL("./conntrack/tasks/reconcile.js", import.meta.url);
const NUMBERS = [
  "firstCpuMs",
  "held",
  "oneServiceCpuMs",
  "toolCpuMs",
  "manyCpuMs",
  "removed",
] as const;

const namespace = NetworkNamespace.create();
try {
  const figures = await measure();
  console.log(process.argv.includes("--json") ? renderJson(figures) : renderTable(figures));
  if (!figures.every(isMet)) process.exitCode = 1;
} finally {
  namespace.close();
}

async function measure(): Promise<readonly Figure[]> {
  const result = await namespace.run(() => runTask(TASK, [String(FLOWS)]));
  const numbers = numbersFrom(result, NUMBERS);
  const { firstCpuMs, held, oneServiceCpuMs, toolCpuMs, manyCpuMs, removed } = numbers;
  const perFlow = (ms: number): number => (ms * US_PER_MS) / FLOWS;
  return [
    figure(`at start, each of ${FLOWS} flows of 1000 services`, perFlow(firstCpuMs), "µs CPU", 10),
    figure("  against conntrack -L", firstCpuMs / toolCpuMs, "times", 1.5),
    figure("  longest time that the thread was held", held, "ms", 100),
    figure("one service changed, each flow of the table", perFlow(oneServiceCpuMs), "µs CPU", 1),
    figure("  all of it", oneServiceCpuMs, "ms CPU", 100),
    figure(`100 services changed, ${removed} flows removed`, manyCpuMs, "ms CPU", 1500),
  ];
}

function figure(name: string, value: number, unit: string, limit: number): Figure {
  return { name, value, unit, limit };
}
