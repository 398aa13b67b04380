import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
/** Below the repository, so that packages are found; a folder for each process, named by its id. */
const FOLDERS = join(ROOT, ".cache", "programs");

/** Packages that look for files of their own; the others are built in, since to load their files takes longer. */
export const NOT_BUILT: string[] = ["koffi", "pino", "pino-pretty", "esbuild", "vitest", "tsx"];
/** For what is built in and calls `require`, which a module does not have. */
export const REQUIRE =
  'import { createRequire as createRequireOfModule } from "node:module"; const require = createRequireOfModule(import.meta.url);';

/** Threads that backends and engines start, and where these look for them as seen from `HOST_PLACE`. */
const THREADS = [
  { source: "src/proxy/loop/proxy-loop.ts", place: "with-threads/host/proxy-loop" },
  { source: "src/edge/tunnel/tunnel-loop.ts", place: "with-threads/host/tunnel-loop" },
];
const HOST_PLACE = "with-threads/host";

const built = new Map<string, string>();
let ownFolder: string | undefined;

/**
 * Builds a program of the sources into one file, with others beside it for what it imports later, once
 * in this process. Node 20 does not read TypeScript, and a hook that compiles while modules are loaded
 * takes seconds for each process and thread.
 * @param place in the folder of built programs, without an extension: one program finds another by it
 * @returns the file
 */
export function buildProgram(
  source: string,
  place: string = relative(ROOT, source).replace(/\.ts$/, ""),
): string {
  const known = built.get(place);
  if (known !== undefined) return known;
  const folder = makeFolder();
  // Not imported above: where tests themselves were built ahead it is not needed, or not there.
  const { buildSync }: typeof import("esbuild") = createRequire(import.meta.url)("esbuild");
  buildSync({
    entryPoints: { [place]: source },
    outdir: folder,
    chunkNames: `${dirname(place)}/[name]-[hash]`,
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    external: NOT_BUILT,
    banner: { js: REQUIRE },
    logLevel: "error",
  });
  const file = join(folder, `${place}.js`);
  built.set(place, file);
  return file;
}

/** The same for a program that starts loops on threads by itself. */
export function buildWithThreads(source: string): string {
  for (const { source: thread, place } of THREADS) buildProgram(join(ROOT, thread), place);
  return buildProgram(source, `${HOST_PLACE}/${basename(source, ".ts")}`);
}

function makeFolder(): string {
  if (ownFolder !== undefined) return ownFolder;
  mkdirSync(FOLDERS, { recursive: true });
  // Who was killed could not remove its own.
  for (const name of readdirSync(FOLDERS)) if (!isRunning(Number(name))) remove(name);
  const folder = join(FOLDERS, String(process.pid));
  process.once("exit", () => remove(String(process.pid)));
  ownFolder = folder;
  return folder;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return pid !== process.pid;
  } catch {
    return false;
  }
}

function remove(name: string): void {
  rmSync(join(FOLDERS, name), { recursive: true, force: true });
}
