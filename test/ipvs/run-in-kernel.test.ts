import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, type TestContext, test, vi } from "vitest";
import { requires } from "../support/requires.ts";

const KERNEL = fileURLToPath(new URL("../../scripts/run-in-kernel", import.meta.url));
/** Several kernels boot at once, on a machine that has other things to do. */
const BOOT_MS = 120_000;
/** A program that starts the kernel, says its pid, and hands on what is printed inside. */
const CALLER = `const child = require("node:child_process").spawn(process.argv[1], [process.argv[2]], { stdio: ["ignore", "inherit", "inherit"] }); console.log(child.pid);`;
const ENDLESS = "echo inside\nexec sleep 1000\n";

/** The pids of all processes that name the folder: the kernel, what holds it, and what looks after it. */
function processesOf(folder: string): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(folder);
    } catch {
      return false;
    }
  });
}

interface Setting {
  /** The only one that the kernel may leave something in. */
  readonly folder: string;
  readonly script: string;
  readonly env: NodeJS.ProcessEnv;
}

function prepare({ onTestFinished }: TestContext, commands: string): Setting {
  const folder = mkdtempSync(join(tmpdir(), "portolan-kernel-"));
  onTestFinished(() => {
    for (const pid of processesOf(folder)) process.kill(Number(pid), "SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  const script = join(folder, "script.sh");
  writeFileSync(script, commands);
  return { folder, script, env: { ...process.env, TMPDIR: folder } };
}

/** Boots a kernel, and waits for its end. */
async function run(
  context: TestContext,
  commands: string,
  limits: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: unknown; readonly stdout: string; readonly stderr: string }> {
  const { folder, script, env } = prepare(context, commands);
  const child = spawn(KERNEL, [script], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...env, ...limits },
  });
  context.onTestFinished(() => void child.kill());
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit"),
  ]);
  await expectNothingLeft(context, folder);
  return { code, stdout, stderr };
}

async function expectNothingLeft({ expect }: TestContext, folder: string): Promise<void> {
  await vi.waitFor(() => expect(processesOf(folder)).toEqual([]), BOOT_MS);
  await vi.waitFor(() => expect(readdirSync(folder)).toEqual(["script.sh"]), BOOT_MS);
}

/** Who is killed, by name: the one that called the program, that itself, or all of their group at once. */
const KILLS: Readonly<Record<string, (caller: ChildProcess, booter: number) => void>> = {
  "the one that called": (caller) => void caller.kill("SIGKILL"),
  "the program that booted it": (_, booter) => void process.kill(booter, "SIGKILL"),
  "all of their group": ({ pid = 0 }) => void process.kill(-pid, "SIGKILL"),
};

const NEEDS = requires("linux", "linux.uml", "modprobe", "ip");

describe.concurrent("a kernel", { ...NEEDS, timeout: BOOT_MS }, () => {
  test.for(Object.keys(KILLS))("ends with %s, when that is killed", async (who, context) => {
    const { expect, onTestFinished } = context;
    const { folder, script, env } = prepare(context, ENDLESS);
    const caller = spawn(process.execPath, ["-e", CALLER, KERNEL, script], {
      stdio: ["ignore", "pipe", "inherit"],
      detached: true,
      env,
    });
    onTestFinished(() => void caller.kill("SIGKILL"));
    const ended = once(caller, "exit");
    const lines = createInterface({ input: caller.stdout })[Symbol.asyncIterator]();
    const booter = Number((await lines.next()).value);
    expect((await lines.next()).value).toBe("inside");
    expect(processesOf(folder).length).toBeGreaterThan(1);

    KILLS[who]?.(caller, booter);
    await ended;
    await expectNothingLeft(context, folder);
  });

  test("hands on what a script prints, and its code", async (context) => {
    const { code, stdout, stderr } = await run(context, "echo out; echo err >&2; exit 7\n");
    context.expect({ code, stdout, stderr }).toEqual({ code: 7, stdout: "out\n", stderr: "err\n" });
  });

  test("is ended when its script takes longer than it may", async (context) => {
    const { code, stdout, stderr } = await run(context, ENDLESS, { UML_TIMEOUT: "1" });
    context.expect(stdout).toMatch(/^(inside\n)?$/);
    context
      .expect(stderr)
      .toBe("run-in-kernel: the script did not end within 1 s, and was ended with its kernel\n");
    context.expect(code).toBe(124);
  });

  test("is ended when it does not boot in time, and its console is shown", async (context) => {
    const { code, stderr } = await run(context, ENDLESS, { UML_BOOT_TIMEOUT: "0" });
    context.expect(stderr).toContain("the kernel did not boot within 0 s; its console:");
    context.expect(code).toBe(125);
  });
});
