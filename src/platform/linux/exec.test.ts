import { beforeEach, describe, expect, test, vi } from "vitest";
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

test("what prints too much is killed", async () => {
  await expect(systemExec.run("yes", [], { maxOutputBytes: 10_000 })).rejects.toMatchObject({
    code: "ERR_PROGRAM_FAILED",
    message: "yes: printed more than 10000 bytes",
  });
});
