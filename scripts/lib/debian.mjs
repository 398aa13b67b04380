import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { run, StepError } from "./command.mjs";

/** @typedef {{ readonly package: string, readonly use: string }} Program */

/**
 * Installs what the tests call besides Node where this is Debian and we may, and says what stays
 * missing. Elsewhere the tests find out for themselves, and say why they skip.
 */
export function ensurePrograms() {
  ensureInstalled(Object.values(readTable("./programs.json")), "tests that need them are skipped");
}

/** The same for tests on another processor. */
export function ensureArm64Programs() {
  ensureInstalled(readTable("./arm64-programs.json"), "the tests on arm64 are skipped");
}

/**
 * The same for one benchmark.
 * @param {string} benchmark
 */
export function ensureBenchmarkPrograms(benchmark) {
  const programs = readTable("./benchmark-programs.json")[benchmark] ?? [];
  ensureInstalled(programs, "the benchmark ends where it needs them");
}

/**
 * @param {readonly Program[]} programs
 * @param {string} otherwise what follows where they stay missing
 */
function ensureInstalled(programs, otherwise) {
  if (!existsSync("/etc/debian_version")) return;
  const missing = programs.filter((row) => !isInstalled(row.package));
  if (missing.length === 0) return;
  const packages = [...new Set(missing.map((row) => row.package))];
  for (const row of missing) console.log(`portolan: missing ${row.package}, for ${row.use}`);
  try {
    if (process.getuid?.() !== 0) throw new StepError("only root can install them");
    install(packages);
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    console.log(`portolan: not installed (${error.message}); ${otherwise}`);
    console.log(`portolan: to install them: sudo apt-get install -y ${packages.join(" ")}`);
  }
}

/** @param {string} path beside this file */
function readTable(path) {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
}

/** @param {string} name */
function isInstalled(name) {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg's own format
  const query = spawnSync("dpkg-query", ["--show", "--showformat=${db:Status-Status}", name]);
  return query.status === 0 && String(query.stdout) === "installed";
}

/** @param {readonly string[]} packages */
function install(packages) {
  console.log(`portolan: installing Debian packages ${packages.join(" ")}`);
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  const args = ["install", "-y", "-qq", "--no-install-recommends", ...packages];
  try {
    run("apt-get", args, env);
  } catch {
    // The package lists are missing or too old to fetch by.
    run("apt-get", ["update", "-qq"], env);
    run("apt-get", args, env);
  }
}
