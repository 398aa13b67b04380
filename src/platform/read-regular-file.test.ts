import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readRegularFile } from "./read-regular-file.ts";

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "portolan-read-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test("a file is read up to its limit, and no further", async () => {
  const path = join(makeFolder(), "file");
  const text = "ä".repeat(100_000);
  writeFileSync(path, text);
  expect(await readRegularFile(path, 200_000)).toBe(text);
  expect(await readRegularFile(path, 199_999)).toBeUndefined();
  writeFileSync(path, "");
  expect(await readRegularFile(path, 0)).toBe("");
  await expect(readRegularFile(`${path}x`, 9)).rejects.toThrow("ENOENT");
});

test.skipIf(!existsSync("/proc/self/status"))(
  "a file that says no size has its limit",
  async () => {
    expect(await readRegularFile("/proc/self/status", 65_536)).toContain("Name:");
    expect(await readRegularFile("/proc/self/status", 5)).toBeUndefined();
  },
);

test.skipIf(process.platform === "win32")(
  "what is no file is refused, and never waited for",
  async () => {
    const folder = makeFolder();
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    // More than there are threads for files.
    const pipes = Array.from({ length: 8 }, () => readRegularFile(pipe, 100));
    for (const { status } of await Promise.allSettled(pipes)) expect(status).toBe("rejected");
    await expect(pipes[0]).rejects.toThrow("it is a pipe; expected a regular file");
    await expect(readRegularFile("/dev/zero", 100)).rejects.toThrow("it is a device; expected");
    await expect(readRegularFile(folder, 100)).rejects.toThrow("it is a folder; expected");
  },
);
