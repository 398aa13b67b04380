/**
 * Services by IPVS: what the first sync and one endpoint's change take, beside the tools that load the
 * same state at once. In a user-mode kernel that has IPVS, so that it runs anywhere.
 *
 *     npm run bench -- ipvs [--json]
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Figure, isMet, renderJson, renderTable } from "./support/report.ts";
import { numbersFrom } from "./support/results.ts";

const SERVICES = 10_000;
const SOME = 1000;
const FEW = 100;
/** Each takes a millisecond or so: with few of them, one pause of a busy machine would be the figure. */
const CHANGES = 1000;
const ROOT = process.cwd();
const KERNEL = join(ROOT, "scripts", "run-in-kernel");
const TASK = fileURLToPath(new URL("./ipvs/tasks/sync.js", import.meta.url));
const NUMBERS = ["firstMs", "programMs", "toolMs", "ruleMs", "restartMs", "changeMs"] as const;

type Measured = Readonly<Record<(typeof NUMBERS)[number], number>>;

const few = measure(FEW);
const some = measure(SOME);
const many = measure(SERVICES);
const figures: readonly Figure[] = [
  ...firstSync(FEW, few),
  ...firstSync(SOME, some),
  ...firstSync(SERVICES, many, 1),
  { name: `one endpoint's change at ${FEW} services`, value: few.changeMs, unit: "ms" },
  { name: `one endpoint's change at ${SERVICES}`, value: many.changeMs, unit: "ms" },
  { name: "  against the former", value: many.changeMs / few.changeMs, unit: "times", limit: 1.5 },
  { name: `a restart that changes nothing, at ${SERVICES}`, value: many.restartMs, unit: "ms" },
];
console.log(process.argv.includes("--json") ? renderJson(figures) : renderTable(figures));
if (!figures.every(isMet)) process.exitCode = 1;

/** @param limit of the time that the tools take without the rules, which are in the first sync */
function firstSync(
  services: number,
  { firstMs, programMs, toolMs, ruleMs }: Measured,
  limit?: number,
): Figure[] {
  const times = { value: firstMs / toolMs, unit: "times", ...(limit !== undefined && { limit }) };
  return [
    { name: `first sync of ${services} services x 3, with rules`, value: firstMs, unit: "ms" },
    { name: "  of it, while iptables-save or -restore ran", value: programMs, unit: "ms" },
    { name: "  ipvsadm -R, ipset restore and ip -batch", value: toolMs, unit: "ms" },
    { name: "  against them", ...times },
    {
      name: "  by netlink alone, against them",
      value: (firstMs - programMs) / toolMs,
      unit: "times",
    },
    { name: "  iptables-restore of the rules, beside them", value: ruleMs, unit: "ms" },
    { name: "  against all of them", value: firstMs / (toolMs + ruleMs), unit: "times" },
  ];
}

function measure(services: number): Measured {
  const folder = mkdtempSync(join(tmpdir(), "portolan-bench-"));
  try {
    const script = join(folder, "task.sh");
    writeFileSync(script, `modprobe ipv6\ncd ${ROOT}\nexec node ${TASK} ${services} ${CHANGES}\n`);
    const env = { ...process.env, UML_TIMEOUT: "600", UML_MEM: "2G" };
    const stdio: ["ignore", "pipe", "inherit"] = ["ignore", "pipe", "inherit"];
    const printed = execFileSync(KERNEL, [script], { env, encoding: "utf8", stdio });
    return numbersFrom(JSON.parse(printed.trim().split("\n").at(-1) ?? ""), NUMBERS);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
