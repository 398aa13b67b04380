import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { prefixProcesses } from "./prefix-processes.ts";

/** Tests and benchmarks are started there. */
const ROOT = process.cwd();
const SOURCE = join(ROOT, "test", "windows", "computenetwork.c");
/** It takes 5 seconds where nothing else runs, as a run takes one. */
const OPENING_LIMIT_MS = 120_000;
const RUN_LIMIT_MS = 120_000;
const CLOSING_LIMIT_MS = 20_000;

const fetchedSchema = z.object({ node: z.string(), modules: z.string() });

/** A folder of this machine, as Windows programs under Wine see it. */
export function windowsPath(path: string): string {
  return `Z:${path.replaceAll("/", "\\")}`;
}

export interface WineResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface WineRun {
  readonly environment?: NodeJS.ProcessEnv;
  /** After which it is ended, and what ran is told. */
  readonly limitMs?: number;
}

/**
 * A Windows of its own, with Node and the stand-in DLLs in its System32. Output goes to files: programs that
 * Wine starts by itself would keep a pipe open, and Node under Wine can not write to one.
 */
export class Wine {
  readonly folder: string = mkdtempSync(join(tmpdir(), "portolan-wine-"));
  readonly #prefix = join(this.folder, "prefix");
  readonly #node: string;
  readonly #environment: NodeJS.ProcessEnv;
  #count = 0;

  private constructor() {
    const { node, modules } = fetchWindows();
    this.#node = node;
    this.#environment = {
      PATH: process.env["PATH"],
      HOME: this.folder,
      WINEPREFIX: this.#prefix,
      WINEARCH: "win64",
      WINEDEBUG: "-all",
      // No questions about .NET and a browser, which a prefix without a screen would wait for, and no
      // debugger: it looks at a process that crashed for a minute, or for ever.
      WINEDLLOVERRIDES: "mscoree,mshtml,winedbg.exe=;computenetwork,vmcompute=n",
      NODE_PATH: windowsPath(modules),
    };
  }

  static async open(): Promise<Wine> {
    const wine = new Wine();
    try {
      await wine.#prepare();
    } catch (error) {
      await wine.close();
      throw error;
    }
    return wine;
  }

  /** Starts Node; what it leaves in the prefix ends with `close`. */
  start(
    args: readonly string[],
    { environment = {}, limitMs = RUN_LIMIT_MS }: WineRun = {},
  ): { readonly child: ChildProcess; readonly result: Promise<WineResult> } {
    return this.#start("wine", [this.#node, ...args], { environment, limitMs });
  }

  node(args: readonly string[], run: WineRun = {}): Promise<WineResult> {
    return this.start(args, run).result;
  }

  /** Ends what runs in this Windows, and removes it. */
  async close(): Promise<void> {
    try {
      // Its server is named by the inode of the folder, which the next one may get: the end is waited for.
      for (const flag of ["-k", "-w"]) await this.#run("wineserver", [flag], CLOSING_LIMIT_MS);
    } finally {
      for (const { pid } of prefixProcesses(this.#prefix)) kill(pid);
      rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
    }
  }

  async #prepare(): Promise<void> {
    mkdirSync(this.#prefix);
    // It stays until `close`: else Windows would be started again for each program.
    await this.#must("wineserver", ["-p"]);
    await this.#must("wineboot", ["-i"]);
    const version = ["HKCU\\Software\\Wine", "/v", "Version", "/d", "win10", "/f"];
    await this.#must("wine", ["reg", "add", ...version]);
    await this.#compile("computenetwork", []);
    await this.#compile("vmcompute", ["-DHNS_DLL"]);
  }

  async #compile(name: string, flags: readonly string[]): Promise<void> {
    const dll = join(this.#prefix, "drive_c", "windows", "system32", `${name}.dll`);
    const common = ["-D_WIN32_WINNT=0x0A00", "-Wall", "-Werror", "-shared", "-static-libgcc", "-s"];
    const output = ["-o", dll, SOURCE, "-lole32", "-luuid"];
    await this.#must("x86_64-w64-mingw32-gcc", [...flags, ...common, ...output]);
  }

  async #must(program: string, args: readonly string[]): Promise<void> {
    const { exitCode, stderr } = await this.#run(program, args, OPENING_LIMIT_MS);
    if (exitCode !== 0) throw new Error(`${program} ended with ${exitCode}: ${stderr}`);
  }

  #run(program: string, args: readonly string[], limitMs: number): Promise<WineResult> {
    return this.#start(program, args, { limitMs }).result;
  }

  #start(
    program: string,
    args: readonly string[],
    { environment = {}, limitMs }: WineRun & { readonly limitMs: number },
  ): { readonly child: ChildProcess; readonly result: Promise<WineResult> } {
    this.#count += 1;
    const paths = ["out", "err"].map((name) => join(this.folder, `${this.#count}.${name}`));
    const [out = 0, err = 0] = paths.map((path) => openSync(path, "w"));
    const child = spawn(program, [...args], {
      cwd: ROOT,
      env: { ...this.#environment, ...environment },
      stdio: ["ignore", out, err],
    });
    closeSync(out);
    closeSync(err);
    let hanging: string | undefined;
    const limit = setTimeout(() => {
      const running = prefixProcesses(this.#prefix).map(({ words }) => `\n  ${words}`);
      hanging = `${program} ${args.join(" ")} did not end within ${limitMs} ms; in its prefix run:${running.join("")}`;
      child.kill("SIGKILL");
    }, limitMs);
    const result = new Promise<WineResult>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (exitCode) => {
        clearTimeout(limit);
        const [stdout = "", stderr = ""] = paths.map((path) => readFileSync(path, "utf8"));
        if (hanging === undefined) resolve({ exitCode, stdout, stderr });
        else reject(new Error(`${hanging}\n${stdout}${stderr}`));
      });
    });
    return { child, result };
  }
}

function fetchWindows(): z.infer<typeof fetchedSchema> {
  const script = join(ROOT, "scripts", "fetch-windows.mjs");
  const fetched = execFileSync(process.execPath, [script], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    timeout: OPENING_LIMIT_MS,
  });
  return fetchedSchema.parse(JSON.parse(fetched));
}

/** One that did not end by itself. */
function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It did meanwhile.
  }
}
