import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** How a process ended. */
export interface CliResult {
  /** Undefined where a signal ended it. */
  readonly code: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  /** Added to the environment, from which all `PORTOLAN_*` are taken away. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: the folder of the repository. */
  readonly cwd?: string;
  /** Written to its standard input, which is then closed. */
  readonly stdin?: string;
}

/** The built `portolan` as a child process; it never outlives the test that started it. */
export class CliProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<CliResult>;
  readonly #text = { stdout: "", stderr: "" };
  readonly #onOutput = new Set<() => void>();

  constructor(args: readonly string[], options: CliOptions) {
    if (!existsSync(MAIN)) throw new Error(`${MAIN} is missing: run npm run build`);
    const child = spawn(process.execPath, [MAIN, ...args], {
      cwd: options.cwd ?? ROOT,
      env: { ...environmentWithoutOptions(), ...options.env },
      stdio: "pipe",
    });
    this.#child = child;
    for (const stream of ["stdout", "stderr"] as const) {
      child[stream].setEncoding("utf8").on("data", (text: string) => {
        this.#text[stream] += text;
        this.#wake();
      });
    }
    // A process that ends before it read all is no fault of the writer.
    child.stdin.on("error", () => undefined).end(options.stdin);
    this.#ended = new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code, signal) => {
        resolve({ ...this.#text, code: code ?? undefined, signal: signal ?? undefined });
        this.#wake();
      });
    });
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error("portolan did not start");
    return this.#child.pid;
  }

  /** What it has written so far. */
  get stdout(): string {
    return this.#text.stdout;
  }

  get stderr(): string {
    return this.#text.stderr;
  }

  /** Waits for the end. */
  ended(): Promise<CliResult> {
    return this.#ended;
  }

  /** Sends a signal and waits for the end. */
  stop(signal: NodeJS.Signals = "SIGTERM"): Promise<CliResult> {
    this.#child.kill(signal);
    return this.#ended;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Waits until its output matches, and fails with all that it wrote where it ends before. */
  async waitFor(pattern: RegExp, stream: "stdout" | "stderr" = "stdout"): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.#text[stream]);
      if (match !== null) return match;
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) {
        const { code, signal, stdout, stderr } = await this.#ended;
        const late = pattern.exec(stream === "stdout" ? stdout : stderr);
        if (late !== null) return late;
        throw new Error(
          `portolan ended (${signal ?? code}) without ${pattern} on ${stream}:\n${stdout}${stderr}`,
        );
      }
      await new Promise<void>((resolve) => this.#onOutput.add(resolve));
    }
  }

  #wake(): void {
    for (const resolve of this.#onOutput) resolve();
    this.#onOutput.clear();
  }
}

/** Starts `portolan ARGS` and kills it when the test has finished, whatever its result. */
export function startCli(args: readonly string[], options: CliOptions = {}): CliProcess {
  const cli = new CliProcess(args, options);
  onTestFinished(async () => {
    await cli.stop("SIGKILL");
  });
  return cli;
}

/** Runs `portolan ARGS` to its end. */
export function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  return startCli(args, options).ended();
}

let stateFolder: string | undefined;

/** Instances of tests are not to be found among those of the user. */
function stateHome(): string {
  if (stateFolder === undefined) {
    const folder = mkdtempSync(join(tmpdir(), "portolan-state-"));
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
    stateFolder = folder;
  }
  return stateFolder;
}

function environmentWithoutOptions(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(([name]) => !name.startsWith("PORTOLAN_"));
  return { ...Object.fromEntries(entries), NO_COLOR: "1", XDG_STATE_HOME: stateHome() };
}
