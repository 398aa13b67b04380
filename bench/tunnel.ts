/**
 * Tunnels and what is added to a connection on its way, each beside a plain TcpLB or TCP in the same run.
 *
 *     npm run bench -- tunnel [--quick] [--json] [--only PART,...] [--rounds N] [--seconds N]
 *
 * quick: few and short rounds, to see that it works. only: these parts alone: websocks, kcp, sidecar.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArguments } from "./lb/arguments.ts";
import { circumstances } from "./lb/report-results.ts";
import { isMet, renderTable } from "./support/report.ts";
import type { Part, PartResult } from "./tunnel/part.ts";

/** Each part by its name, in the order in which they run; only those that run are loaded. */
const PARTS: ReadonlyMap<string, () => Promise<Part>> = new Map([
  ["websocks", async () => (await import("./tunnel/websocks-part.ts")).measureWebsocks],
  ["kcp", async () => (await import("./tunnel/kcp-part.ts")).measureKcp],
  ["sidecar", async () => (await import("./tunnel/sidecar-part.ts")).measureSidecars],
]);

const { wants, rounds, seconds, isQuick, isJson } = parseArguments(process.argv.slice(2), [
  ...PARTS.keys(),
]);
const folder = mkdtempSync(join(tmpdir(), "portolan-bench-"));
const results = new Map<string, PartResult>();
try {
  for (const [name, load] of PARTS) {
    if (!wants(name)) continue;
    console.error(`tunnel: ${name}`);
    const measure = await load();
    results.set(name, await measure({ folder, rounds, seconds, isQuick }));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const figures = [...results.values()].flatMap((result) => result.figures);
console.log(isJson ? asJson() : asText());
if (!figures.every(isMet)) process.exitCode = 1;

function asText(): string {
  const { machine, date } = circumstances();
  const texts = [...results.values()].map(({ text }) => text);
  return [`${machine}, ${date}`, ...texts, "", renderTable(figures)].join("\n");
}

function asJson(): string {
  const value = {
    ...circumstances(),
    parts: Object.fromEntries([...results].map(([name, { values }]) => [name, values])),
    figures: figures.map((figure) => ({ ...figure, met: isMet(figure) })),
  };
  return JSON.stringify(value, undefined, 2);
}
