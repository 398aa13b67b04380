import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, runNpm } from "./command.mjs";
import { isInstalled } from "./lock.mjs";

/** Installs the npm packages unless those of the lock file are there. */
export function ensurePackages() {
  const wanted = readPackages(join(ROOT, "package-lock.json"));
  const installed = readPackages(join(ROOT, "node_modules", ".package-lock.json"));
  if (wanted !== undefined && installed !== undefined && isInstalled(wanted, installed)) return;
  console.log("portolan: installing npm packages");
  runNpm(["ci", "--include=dev", "--loglevel=error"]);
}

/**
 * @param {string} path
 * @returns {import("./lock.mjs").LockedPackages | undefined} undefined where there is none
 */
function readPackages(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).packages;
  } catch {
    return undefined;
  }
}
