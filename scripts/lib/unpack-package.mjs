import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { run, StepError } from "./command.mjs";

/**
 * Brings a package from the registry into a folder, unless that version is there; nothing of it is run.
 * @param {string} name
 * @param {string} version
 * @param {{ readonly folder: string, readonly cache: string }} places where it comes to, and what passes through
 * @returns {string} the folder
 */
export function unpackPackage(name, version, { folder, cache }) {
  if (existsSync(join(folder, "package.json"))) {
    const { version: present } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    if (present === version) return folder;
  }
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  console.error(`portolan: fetching ${name} ${version}`);
  const packed = spawnSync(
    "npm",
    ["pack", "--silent", "--pack-destination", cache, `${name}@${version}`],
    { cwd: cache, encoding: "utf8" },
  );
  const file = packed.stdout.trim().split("\n").at(-1);
  if (packed.status !== 0 || !file) throw new StepError(`${name}@${version} could not be fetched`);
  run("tar", ["xzf", join(cache, file), "-C", folder, "--strip-components=1"]);
  rmSync(join(cache, file));
  return folder;
}
