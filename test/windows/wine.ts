import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const fetchedSchema = z.object({ node: z.string(), modules: z.string() });

/** A folder of this machine, as Windows programs under Wine see it. */
export function windowsPath(path: string): string {
  return `Z:${path.replaceAll("/", "\\")}`;
}

interface WineResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A Windows of its own, with Node and the stand-in DLLs in its System32. */
export class Wine {
  readonly folder: string = mkdtempSync(join(tmpdir(), "portolan-wine-"));
  readonly #node: string;
  readonly #environment: NodeJS.ProcessEnv;
  #count = 0;

  constructor() {
    const script = join(ROOT, "scripts", "fetch-windows.mjs");
    const fetched = execFileSync(process.execPath, [script], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
    const { node, modules } = fetchedSchema.parse(JSON.parse(fetched));
    this.#node = node;
    this.#environment = {
      PATH: process.env["PATH"],
      HOME: this.folder,
      WINEPREFIX: join(this.folder, "prefix"),
      WINEARCH: "win64",
      WINEDEBUG: "-all",
      WINEDLLOVERRIDES: "mscoree,mshtml=;computenetwork,vmcompute=n",
      NODE_PATH: windowsPath(modules),
    };
    this.#run("wineboot", ["-i"]);
    this.#run("wine", ["reg", "add", "HKCU\\Software\\Wine", "/v", "Version", "/d", "win10", "/f"]);
    this.#compile("computenetwork", []);
    this.#compile("vmcompute", ["-DHNS_DLL"]);
  }

  /** Starts Node; output goes to files, since Wine knows no pipes of Unix. */
  start(
    args: readonly string[],
    environment: NodeJS.ProcessEnv = {},
  ): { readonly child: ChildProcess; readonly result: Promise<WineResult> } {
    this.#count += 1;
    const paths = ["out", "err"].map((name) => join(this.folder, `${this.#count}.${name}`));
    const [out = 0, err = 0] = paths.map((path) => openSync(path, "w"));
    const child = spawn("wine", [this.#node, ...args], {
      cwd: ROOT,
      env: { ...this.#environment, ...environment },
      stdio: ["ignore", out, err],
    });
    closeSync(out);
    closeSync(err);
    const result = new Promise<WineResult>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (exitCode) => {
        const [stdout = "", stderr = ""] = paths.map((path) => readFileSync(path, "utf8"));
        resolve({ exitCode, stdout, stderr });
      });
    });
    return { child, result };
  }

  node(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<WineResult> {
    return this.start(args, environment).result;
  }

  /** Ends what runs in this Windows, and removes it. */
  close(): void {
    try {
      this.#run("wineserver", ["-k"]);
      // Its place is named by the inode of the folder, which the next one may get.
      this.#run("wineserver", ["-w"]);
    } catch {
      // Nothing runs any more.
    }
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #compile(name: string, flags: readonly string[]): void {
    const source = join(ROOT, "test", "windows", "computenetwork.c");
    const dll = join(this.folder, "prefix", "drive_c", "windows", "system32", `${name}.dll`);
    const common = ["-D_WIN32_WINNT=0x0A00", "-Wall", "-Werror", "-shared", "-static-libgcc", "-s"];
    this.#run("x86_64-w64-mingw32-gcc", [
      ...flags,
      ...common,
      "-o",
      dll,
      source,
      "-lole32",
      "-luuid",
    ]);
  }

  #run(program: string, args: readonly string[]): void {
    execFileSync(program, [...args], { env: this.#environment, stdio: "ignore" });
  }
}
