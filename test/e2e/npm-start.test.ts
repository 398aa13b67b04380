import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { freePort, startNamedServer } from "../support/named-server.ts";
import { requires } from "../support/requires.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SLOW = 120_000;
const LOOK_AGAIN_MS = 50;
const run = promisify(execFile);

interface Ports {
  readonly balancer: number;
  readonly socks5: number;
  readonly resp: number;
  readonly http: number;
  readonly servers: readonly number[];
}

async function freePorts(): Promise<Ports & { readonly args: readonly string[] }> {
  // One after the other, so that none is given twice.
  const ports: number[] = [];
  while (ports.length < 9) {
    const port = await freePort();
    if (!ports.includes(port)) ports.push(port);
  }
  const [balancer = 0, socks5 = 0, resp = 0, http = 0, metrics = 0, health = 0, ...servers] = ports;
  const args = [
    ...["--port", balancer, "--socks5-port", socks5, "--resp-port", resp, "--http-port", http],
    ...["--metrics-port", metrics, "--health-port", health, "--server-ports", servers.join(",")],
  ];
  return { balancer, socks5, resp, http, servers, args: args.map(String) };
}

/** A demo as a terminal runs it: in a process group of its own. */
class Demo {
  readonly #child: ChildProcess;
  readonly #state: string;
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  output = "";

  constructor(program: string, args: readonly string[]) {
    this.#state = mkdtempSync(join(tmpdir(), "portolan-demo-"));
    this.#child = spawn(program, [...args, "--state", this.#state], {
      cwd: ROOT,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.output += text;
      });
    }
    this.ended = once(this.#child, "close").then(([code, signal]) => signal ?? code);
    onTestFinished(async () => {
      this.signalAll("SIGKILL");
      await this.ended;
      await this.untilGone();
      rmSync(this.#state, { recursive: true, force: true });
    });
  }

  /** As Ctrl-C does: to all of the group. */
  signalAll(signal: NodeJS.Signals): void {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    process.kill(-pid, signal);
  }

  /** To the first process only. */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async waitFor(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.output)) {
      if (this.#child.exitCode !== null) throw new Error(`it ended:\n${this.output}`);
      await Promise.race([
        this.ended,
        ...[this.#child.stdout, this.#child.stderr].map((one) => one && once(one, "data")),
      ]);
    }
  }

  /** Waits until no process is left that was told of its folder. */
  async untilGone(): Promise<void> {
    while (this.#processes().length > 0) await delay(LOOK_AGAIN_MS);
  }

  #processes(): readonly string[] {
    return readdirSync("/proc").filter((pid) => {
      if (!/^\d+$/.test(pid)) return false;
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(this.#state);
      } catch {
        return false;
      }
    });
  }
}

/** The build is there already: what `prestart` does is done before tests. */
function npmStart(args: readonly string[]): Demo {
  return new Demo("npm", ["start", "--ignore-scripts", "--", ...args]);
}

const LINUX = { ...requires("linux"), timeout: SLOW };
const TOOLS = { ...requires("linux", "curl", "redis-cli"), timeout: SLOW };

test(
  "npm start serves, tells what to try, and all of that works; Ctrl-C ends everything",
  TOOLS,
  async () => {
    const ports = await freePorts();
    const demo = npmStart(ports.args);
    await demo.waitFor(/Ctrl-C ends it/);
    const commands = [...demo.output.matchAll(/^ {2}\d\. {2}(\S+) ?(.*)$/gm)];
    expect(commands.map(([, program]) => program)).toEqual([
      "curl",
      "redis-cli",
      `http://127.0.0.1:${ports.http}/`,
    ]);

    const [, curl = "", url = ""] = commands[0] ?? [];
    const answers = new Set<string>();
    for (let count = 0; count < 8; count++) {
      const { stdout } = await run(curl, ["--silent", url]);
      expect(stdout).toMatch(/^demo-\d on 127\.0\.0\.1:\d+ answers GET \/hello\n$/);
      answers.add(stdout.slice(0, "demo-1".length));
    }
    expect(answers).toEqual(new Set(["demo-1", "demo-2", "demo-3"]));

    const [, redis = "", words = ""] = commands[1] ?? [];
    const { stdout: servers } = await run(redis, words.split(" "));
    for (const name of ["demo-1", "demo-2", "demo-3"]) expect(servers).toContain(name);

    const page = await fetch(`http://127.0.0.1:${ports.http}/`);
    expect([page.status, page.headers.get("content-type")]).toEqual([
      200,
      expect.stringContaining("text/html"),
    ]);
    const proxy = ["--proxy", `socks5h://127.0.0.1:${ports.socks5}`];
    const { stdout: proxied } = await run("curl", ["--silent", ...proxy, "http://web.demo/socks"]);
    expect(proxied).toMatch(/answers GET \/socks/);

    demo.signalAll("SIGINT");
    // npm ends by the signal, which a shell tells as 130.
    expect([0, 130, "SIGINT"]).toContain(await demo.ended);
    expect(demo.output).toMatch(/portolan: ending\n$/);
    await demo.untilGone();
    await expect(fetch(`http://127.0.0.1:${ports.balancer}/`)).rejects.toThrow();
  },
);

test(
  "a port that is taken: which, by whom, and how to choose another; nothing is started",
  LINUX,
  async () => {
    // First: a port that was free a moment ago may be given to it.
    const holder = await startNamedServer("mine");
    const ports = await freePorts();
    const args = ports.args.map((arg) =>
      arg === String(ports.balancer) ? String(holder.port) : arg,
    );
    const demo = npmStart(args);
    expect(await demo.ended).toBe(1);
    expect(demo.output).toMatch(
      new RegExp(
        `portolan: port ${holder.port}, for the load balancer, is taken by .*\\(pid ${process.pid}\\)\\nportolan: choose others: npm start -- --port \\d+\\n`,
      ),
    );
    expect(demo.output).not.toContain("starting the instance");
  },
);

test("a signal to npm alone leaves no process", LINUX, async () => {
  const ports = await freePorts();
  const demo = npmStart(ports.args);
  await demo.waitFor(/Ctrl-C ends it/);
  demo.signal("SIGTERM");
  await demo.ended;
  await demo.untilGone();
});

test.each(["SIGTERM", "SIGKILL"] as const)(
  "%s of the demo alone leaves no process",
  LINUX,
  async (signal) => {
    const ports = await freePorts();
    const demo = new Demo(process.execPath, ["scripts/start.mjs", ...ports.args]);
    await demo.waitFor(/Ctrl-C ends it/);
    demo.signal(signal);
    expect(await demo.ended).toBe(signal === "SIGTERM" ? 0 : signal);
    await demo.untilGone();
  },
);
