import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { requires } from "../support/requires.ts";

const KERNEL = fileURLToPath(new URL("../../scripts/run-in-kernel", import.meta.url));
const BOOT_MS = 60_000;
/** A program that starts the kernel, says its pid, and hands on what is printed inside. */
const CALLER = `const child = require("node:child_process").spawn(process.argv[1], [process.argv[2]], { stdio: ["ignore", "inherit", "inherit"] }); console.log(child.pid);`;

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

describe("a kernel ends with", requires("linux", "linux.uml", "modprobe", "ip"), () => {
  test.concurrent.for(["the one that called", "the program that booted it"])(
    "%s, when that is killed",
    { timeout: BOOT_MS },
    async (who) => {
      const folder = mkdtempSync(join(tmpdir(), "portolan-kernel-"));
      const script = join(folder, "script.sh");
      writeFileSync(script, "echo inside\nexec sleep 1000\n");
      const caller = spawn(process.execPath, ["-e", CALLER, KERNEL, script], {
        stdio: ["ignore", "pipe", "inherit"],
        env: { ...process.env, TMPDIR: folder },
      });
      onTestFinished(() => {
        caller.kill("SIGKILL");
        rmSync(folder, { recursive: true, force: true });
      });
      const lines = createInterface({ input: caller.stdout })[Symbol.asyncIterator]();
      const booter = Number((await lines.next()).value);
      expect((await lines.next()).value).toBe("inside");
      expect(processesOf(folder).length).toBeGreaterThan(1);

      const ended = once(caller, "exit");
      if (who === "the one that called") caller.kill("SIGKILL");
      else process.kill(booter, "SIGKILL");
      await ended;
      await vi.waitFor(() => expect(processesOf(folder)).toEqual([]), BOOT_MS);
      await vi.waitFor(() => expect(readdirSync(folder)).toEqual(["script.sh"]), BOOT_MS);
    },
  );
});
