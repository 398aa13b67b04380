import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { ROOT } from "./command.mjs";

/** The command, and the threads that it starts: each finds the others beside it. */
const ENTRIES = ["cli/main", "proxy/loop/proxy-loop", "edge/tunnel/tunnel-loop"];
const FOLDER = "cli";
/**
 * Packages that look for files of their own, and `mqtt`, which is rarely needed, and as a chunk would not have its
 * names. The others are built in.
 */
const NOT_BUILT_IN = ["koffi", "mqtt", "pino", "pino-pretty"];
/** For what is built in and calls `require`, which a module does not have. */
const REQUIRE =
  'import { createRequire as createRequireOfModule } from "node:module"; const require = createRequireOfModule(import.meta.url);';
const PACKAGE = /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;
const LICENSE = /^(licen[cs]e|copying|notice)\b/i;

/**
 * Puts the modules of the command, as the compiler wrote them, into few files: to find and load 450 of them took most
 * of the time until it did something. The library stays as it was written.
 * @param {string} dist
 */
export function bundleCommand(dist) {
  const out = join(dist, "bundled");
  const { metafile } = bundle(dist, out);
  rmSync(join(dist, FOLDER), { recursive: true });
  renameSync(join(out, FOLDER), join(dist, FOLDER));
  rmSync(out, { recursive: true });
  writeFileSync(join(dist, FOLDER, "LICENSES.txt"), licensesOf(Object.keys(metafile.inputs)));
}

/**
 * @param {string} dist
 * @param {string} outdir
 */
function bundle(dist, outdir) {
  // Not imported above: the script that installs packages reads this file before they are there.
  /** @type {typeof import("esbuild")} */
  const { buildSync } = createRequire(import.meta.url)("esbuild");
  return buildSync({
    absWorkingDir: ROOT,
    entryPoints: ENTRIES.map((entry) => ({
      in: join(dist, `${entry}.js`),
      out: join(FOLDER, entry.slice(entry.lastIndexOf("/") + 1)),
    })),
    outdir,
    chunkNames: `${FOLDER}/[name]-[hash]`,
    bundle: true,
    splitting: true,
    platform: "node",
    target: "node20",
    format: "esm",
    external: NOT_BUILT_IN,
    banner: { js: REQUIRE },
    legalComments: "none",
    metafile: true,
    logLevel: "warning",
  });
}

/**
 * What the packages that are built in ask to be told with their copies.
 * @param {readonly string[]} files
 */
function licensesOf(files) {
  const folders = new Set(files.flatMap((file) => PACKAGE.exec(file) ?? []));
  const texts = [...folders].sort().map((folder) => {
    const path = join(ROOT, folder);
    const { name, version } = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
    const found = readdirSync(path).filter((file) => LICENSE.test(file));
    const text = found.map((file) => readFileSync(join(path, file), "utf8").trim()).join("\n\n");
    return `${name} ${version}\n\n${text}\n`;
  });
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}
