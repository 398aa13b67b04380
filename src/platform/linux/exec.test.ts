import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { execChecked, systemExec } from "./exec.ts";

test("gives both outputs and the exit code, and passes arguments without a shell", async () => {
  const script = 'printf %s "$1"; printf bad >&2; exit 3';
  const args = ["-c", script, "sh", "a b; $HOME"];
  expect(await systemExec.run("sh", args)).toEqual({
    exitCode: 3,
    stdout: "a b; $HOME",
    stderr: "bad",
  });
});

describe.each(["as it is", "/nowhere"])("with TMPDIR %s", (folder) => {
  beforeEach(() => {
    if (folder !== "as it is") vi.stubEnv("TMPDIR", folder);
    return () => void vi.unstubAllEnvs();
  });

  test("feeds standard input, also where it is long", async () => {
    const stdin = "0123456789".repeat(100_000);
    const { stdout } = await systemExec.run("wc", ["-c"], { stdin });
    expect(stdout.trim()).toBe("1000000");
  });

  test("a program that does not read its input is no error", async () => {
    const stdin = "x".repeat(1_000_000);
    expect((await systemExec.run("true", [], { stdin })).exitCode).toBe(0);
  });
});

describe("pieces of standard input", () => {
  function* pieces(count: number, told: number[]): Generator<string> {
    for (let number = 0; number < count; number += 1) {
      told.push(number);
      yield "x".repeat(100_000);
    }
  }

  test("are read one after the other", async () => {
    const { stdout } = await systemExec.run("wc", ["-c"], { stdin: pieces(30, []) });
    expect(stdout.trim()).toBe("3000000");
  });

  test("are asked for as they are read", async () => {
    const told: number[] = [];
    const { exitCode } = await systemExec.run("sh", ["-c", "head -c 1 >/dev/null; exit 4"], {
      stdin: pieces(1000, told),
    });
    expect(exitCode).toBe(4);
    expect(told.length).toBeLessThan(100);
  });

  test("end the program where one can not be had, which hears no end of its input", async () => {
    function* failing(): Generator<string> {
      yield "first\n";
      throw new TypeError("the second one");
    }
    const folder = mkdtempSync(join(tmpdir(), "exec-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const args = ["-c", `cat >/dev/null; touch ${join(folder, "ended")}`];
    const stdin = failing();
    await expect(systemExec.run("sh", args, { stdin })).rejects.toThrow("the second one");
    expect(readdirSync(folder)).toEqual([]);
  });
});

test("a failure names the command and what it complained about", async () => {
  await expect(
    execChecked(systemExec, "sh", ["-c", "echo first >&2; echo >&2; echo second >&2; exit 2"]),
  ).rejects.toMatchObject({
    code: "ERR_PROGRAM_FAILED",
    message: expect.stringMatching(/^sh -c .*: ended with exit code 2: first; second$/),
  });
});

test("a program that is not there is named", async () => {
  await expect(systemExec.run("no-such-program", ["-v"])).rejects.toMatchObject({
    code: "ERR_NOT_POSSIBLE_HERE",
    message: expect.stringContaining("no-such-program -v: there is no such program"),
  });
});

test("what takes too long is killed", async () => {
  await expect(systemExec.run("sleep", ["60"], { timeoutMs: 20 })).rejects.toMatchObject({
    code: "ERR_PROGRAM_FAILED",
    message: "sleep 60: took longer than 20 ms",
  });
});

test("what takes too long is not waited for where what it started goes on", async () => {
  const folder = mkdtempSync(join(tmpdir(), "portolan-exec-"));
  const pidFile = join(folder, "pid");
  onTestFinished(() => {
    process.kill(Number(readFileSync(pidFile, "utf8")), "SIGKILL");
    rmSync(folder, { recursive: true });
  });
  const args = ["-c", 'sleep 600 & echo $! > "$1"; wait', "sh", pidFile];
  const running = systemExec.run("sh", args, { timeoutMs: 500 });
  const inTime = Promise.race([running, setTimeout(10_000, "still waits", { ref: false })]);
  const message = expect.stringContaining("took longer than 500 ms");
  await expect(inTime).rejects.toMatchObject({ message });
});

test("what prints too much is killed", async () => {
  await expect(systemExec.run("yes", [], { maxOutputBytes: 10_000 })).rejects.toMatchObject({
    code: "ERR_PROGRAM_FAILED",
    message: "yes: printed more than 10000 bytes",
  });
});
