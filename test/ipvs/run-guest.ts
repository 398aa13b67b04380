import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { NOT_BUILT, REQUIRE } from "../../src/net/threads/build-program.fixture.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const GUEST = fileURLToPath(new URL("./guest/", import.meta.url));
const HOST = join(ROOT, "test/netns/backend-host.ts");
const STAND_IN = join(ROOT, "scripts/arm64/vitest-on-node.mjs");
const REPORTER = join(ROOT, "test/ipvs/guest-reporter.mjs");
const KERNEL = join(ROOT, "scripts/run-in-kernel");
const RECORD = "\u001e";

/** What became of one test inside. */
export interface GuestResult {
  /** The names of the suites around it, and its own. */
  readonly path: readonly string[];
  /** Undefined where it passed. */
  readonly problem?: string;
  readonly skipped: boolean;
}

export interface GuestRun {
  readonly results: readonly GuestResult[];
  /** Of the program inside: 0 where all passed. */
  readonly code: number;
  /** What else was printed. */
  readonly output: string;
}

export interface GuestOptions {
  readonly timeoutSeconds: number;
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Boots a kernel that has IPVS and runs test files of `guest` in it, built ahead: starting programs and
 * compiling are slow there. One boot for all of them.
 */
export async function runGuest(
  files: readonly string[],
  { timeoutSeconds, environment = {} }: GuestOptions,
): Promise<GuestRun> {
  // Below the repository, so that packages are found.
  const cache = join(ROOT, ".cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "guest-"));
  try {
    await build({
      entryPoints: [...files.map((file) => join(GUEST, file)), HOST],
      outdir: folder,
      entryNames: "[name]",
      bundle: true,
      splitting: true,
      platform: "node",
      format: "esm",
      // Packages too: there each of their many files costs more than to read it.
      external: NOT_BUILT,
      banner: { js: REQUIRE },
      alias: { vitest: STAND_IN },
      logLevel: "error",
    });
    const script = join(folder, "guest.sh");
    const commands = files.map((file) => {
      const built = join(folder, file.replace(/\.ts$/, ".js"));
      return `node --test-reporter=${REPORTER} --test-reporter-destination=stdout ${built} || code=1`;
    });
    const lines = ["code=0", "modprobe ipv6", `cd ${ROOT}`, ...commands, "exit $code"];
    writeFileSync(script, lines.join("\n"));
    return await boot(script, timeoutSeconds, environment);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function boot(
  script: string,
  timeoutSeconds: number,
  environment: Readonly<Record<string, string>>,
): Promise<GuestRun> {
  const child = spawn(KERNEL, [script], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...environment, UML_TIMEOUT: String(timeoutSeconds), NO_COLOR: "1" },
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const [code] = await once(child, "close");
  const results: GuestResult[] = [];
  let output = stderr;
  for (const line of stdout.split("\n")) {
    if (line.startsWith(RECORD)) results.push(JSON.parse(line.slice(RECORD.length)));
    else output += `${line}\n`;
  }
  return { results, code: typeof code === "number" ? code : 1, output };
}
