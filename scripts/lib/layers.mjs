import { posix } from "node:path";

/**
 * The import rule: a folder of `src` may import those of the rows below its own, never one beside it.
 * @type {readonly (readonly string[])[]}
 */
export const LAYERS = [
  ["index.ts", "library"],
  ["cli"],
  ["apps", "daemon"],
  ["control", "mesh"],
  ["sources", "backends"],
  ["brain", "edge", "proxy"],
  ["net", "engines"],
  ["platform"],
  ["wire"],
  ["core"],
];

/** The one file that may name the folders of all backends. */
const REGISTRY = "src/backends/registry.ts";
const FFI = "koffi";

/**
 * Why a file may not import something, or undefined where it may.
 * @param {string} file path in the repository, `src/core/errors.ts`
 * @param {string} specifier as the file says it
 * @returns {string | undefined}
 */
export function violation(file, specifier) {
  return specifier.startsWith(".")
    ? relativeViolation(file, posix.join(posix.dirname(file), specifier))
    : packageViolation(file, specifier);
}

/**
 * @param {string} file
 * @param {string} specifier
 */
function packageViolation(file, specifier) {
  const folder = folderOf(file);
  if (specifier === FFI && folder !== "platform") return `only src/platform may import ${FFI}`;
  if (folder === "core" && specifier.startsWith("node:") && !isTest(file)) {
    return "src/core is pure: it imports no node: module";
  }
  return undefined;
}

/**
 * @param {string} file
 * @param {string} target
 */
function relativeViolation(file, target) {
  if (!target.startsWith("src/")) {
    return isTest(file) ? undefined : "code in src imports only code in src";
  }
  const [from, to] = [folderOf(file), folderOf(target)];
  if (from === to) return backendViolation(file, target);
  const [fromRow, toRow] = [rowOf(from), rowOf(to)];
  if (fromRow < 0) return `${from} is in no layer: add it to the table in scripts/lib/layers.mjs`;
  if (toRow < 0) return `${to} is in no layer: add it to the table in scripts/lib/layers.mjs`;
  if (fromRow < toRow) return undefined;
  return fromRow === toRow
    ? `${from} and ${to} are of one layer, and folders of one layer do not import each other`
    : `${from} is below ${to}: imports go ${arrow()}`;
}

/**
 * What two backends need lies below them.
 * @param {string} file
 * @param {string} target
 */
function backendViolation(file, target) {
  const [from, to] = [backendOf(file), backendOf(target)];
  if (to === undefined || from === to || file === REGISTRY) return undefined;
  return from === undefined
    ? `only ${REGISTRY} may import a backend`
    : `a backend never imports another: ${from} imports ${to}`;
}

/** @param {string} path */
function backendOf(path) {
  return /^src\/backends\/([^/]+)\//.exec(path)?.[1];
}

/** @param {string} path */
function folderOf(path) {
  return path.split("/")[1] ?? "";
}

/** @param {string} folder */
function rowOf(folder) {
  return LAYERS.findIndex((row) => row.includes(folder));
}

/** @param {string} file */
function isTest(file) {
  return file.endsWith(".test.ts");
}

function arrow() {
  return LAYERS.map((row) => row.join(", ")).join(" -> ");
}
