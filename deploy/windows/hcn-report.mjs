/**
 * Tries the Windows backend on this machine, and writes a folder with what came of it. Run it as an
 * administrator, where no Portolan runs, with the name of a network that `Get-HnsNetwork` lists:
 *
 *     node hcn-report.mjs NETWORK [FOLDER]
 *
 * It makes load balancers for the services of examples/kubernetes.yaml, and removes them at the end. What
 * others made is not touched.
 */
import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { release, version } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** @typedef {{ readonly isDone: boolean, readonly text: string }} Result */

const [network, folder = "portolan-hcn-report"] = process.argv.slice(2);
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const CLI = join(ROOT, "dist", "cli", "main.js");
const STATE = join(ROOT, "examples", "kubernetes.yaml");
const LIMIT_MS = 120_000;

if (network === undefined) {
  console.error("missing: the name of a network; expected: node hcn-report.mjs NETWORK [FOLDER]");
  process.exit(2);
}
mkdirSync(folder, { recursive: true });

/**
 * Both outputs go to files of that name.
 * @param {string} name
 * @param {string} program
 * @param {readonly string[]} args
 */
function run(name, program, args) {
  const path = join(folder, `${name}.txt`);
  const out = openSync(path, "w");
  const err = openSync(join(folder, `${name}.err.txt`), "w");
  const { status } = spawnSync(program, args, {
    stdio: ["ignore", out, err],
    timeout: LIMIT_MS,
  });
  closeSync(out);
  closeSync(err);
  return { isDone: status === 0, text: readFileSync(path, "utf8") };
}

/** @type {(name: string, ...args: readonly string[]) => Result} */
const portolan = (name, ...args) => run(name, process.execPath, [CLI, ...args]);
/** @type {(name: string, what: string) => Result} */
const hns = (name, what) =>
  run(name, "powershell", ["-NoProfile", "-Command", `Get-Hns${what} | ConvertTo-Json -Depth 9`]);

// All endpoints are elsewhere for a node of that name.
const from = ["run", "--from", `file:${STATE}`, "--node", "portolan-report", "--to", "hcn"];
const to = ["--network-name", network];

hns("networks", "Network");
const steps = [
  ["Portolan runs", portolan("version", "version").isDone],
  ["the network can be read", isRead(portolan("before", ...from, ...to, "--dry-run"))],
  ["a sync succeeds", portolan("run", ...from, ...to, "--once", "--log-level", "debug").isDone],
  ["ids are kept", hns("endpoints", "Endpoint").text.toLowerCase().includes("706f7274-6f6c-8")],
  ["load balancers are listed", hns("load-balancers", "PolicyList").isDone],
  ["a second sync changes nothing", isSettled(portolan("after", ...from, ...to, "--dry-run"))],
  ["cleanup succeeds", portolan("cleanup", "cleanup", "--to", "hcn").isDone],
];
const lines = steps.map(([what, isSo]) => `${isSo ? "yes" : "NO "}  ${what}`);
const system = `${version()} ${release()}, Node ${process.version}`;
writeFileSync(join(folder, "summary.txt"), `${[system, ...lines].join("\n")}\n`);
console.log(`${lines.join("\n")}\nPlease send the folder ${folder}.`);

/** @param {Result} result */
function isRead({ isDone, text }) {
  return isDone && !text.includes("could not be read");
}

/** @param {Result} result */
function isSettled({ isDone, text }) {
  return isDone && text.includes("hcn would execute nothing");
}
