import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { bundleCommand } from "./bundle.mjs";
import { ROOT, run } from "./command.mjs";

const TSC = join("node_modules", "typescript", "bin", "tsc");
const CACHE = join(ROOT, ".cache");
const DIST = join(ROOT, "dist");
const STAMP = join(CACHE, "build.sha256");
/** What tsconfig.build.json leaves out. */
const NOT_BUILT = /\.(test|fixture|contract)\.ts$/;
const ENTRY = join(DIST, "cli", "main.js");

/** Builds `dist` unless it was built from just these sources. */
export function ensureBuild() {
  const hash = hashSources();
  if (existsSync(ENTRY) && readStamp() === hash) return;
  console.log("portolan: building");
  build();
}

/** Builds `dist` beside the old one and puts it in its place: it holds no file of a source that is gone. */
export function build() {
  const hash = hashSources();
  const fresh = join(CACHE, `dist-${process.pid}`);
  const old = join(CACHE, `dist-old-${process.pid}`);
  mkdirSync(CACHE, { recursive: true });
  try {
    run(process.execPath, [TSC, "-p", "tsconfig.build.json", "--outDir", fresh]);
    bundleCommand(fresh);
    rmSync(STAMP, { force: true });
    if (existsSync(DIST)) renameSync(DIST, old);
    renameSync(fresh, DIST);
    if (existsSync(ENTRY)) chmodSync(ENTRY, 0o755);
    writeFileSync(STAMP, hash);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
    rmSync(old, { recursive: true, force: true });
  }
}

/**
 * Compiles a benchmark with the sources it measures, so that it runs what would be shipped.
 * @returns {string} the folder of the compiled benchmarks
 */
export function buildBenchmarks() {
  const out = join(CACHE, "bench");
  rmSync(out, { recursive: true, force: true });
  run(process.execPath, [TSC, "-p", "tsconfig.bench.json", "--outDir", out]);
  return join(out, "bench");
}

/**
 * Compiles the tests beside the code with it, for where nothing else reads TypeScript.
 * @returns {string} the folder that holds `src`
 */
export function buildTests() {
  const out = join(CACHE, "tests");
  rmSync(out, { recursive: true, force: true });
  run(process.execPath, [TSC, "-p", "tsconfig.tests.json", "--outDir", out]);
  // What tests read beside the code.
  const wire = join("src", "wire");
  cpSync(join(ROOT, wire), join(out, wire), {
    recursive: true,
    filter: (path) => path.endsWith(".proto") || statSync(path).isDirectory(),
  });
  return out;
}

/** Over the names and contents of all that `dist` depends on. */
function hashSources() {
  const hash = createHash("sha256");
  const files = readdirSync(join(ROOT, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !NOT_BUILT.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const settings = [
    "tsconfig.json",
    "tsconfig.build.json",
    "package-lock.json",
    join("scripts", "lib", "bundle.mjs"),
  ];
  for (const file of [...files, ...settings.map((name) => join(ROOT, name))]) {
    hash
      .update(`${file.slice(ROOT.length)}\0`)
      .update(readFileSync(file))
      .update("\0");
  }
  return hash.digest("hex");
}

function readStamp() {
  return existsSync(STAMP) ? readFileSync(STAMP, "utf8") : undefined;
}
