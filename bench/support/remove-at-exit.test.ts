import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { removeAtExit } from "./remove-at-exit.ts";

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "portolan-removed-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test("a folder is gone after its process was killed", async () => {
  const folder = await makeFolder();
  const module = JSON.stringify(new URL("./remove-at-exit.ts", import.meta.url).pathname);
  const script = `const { removeAtExit } = await import(${module}); removeAtExit(${JSON.stringify(folder)}); setInterval(() => {}, 1000); console.log("ready");`;
  const args = ["--import", "tsx", "--input-type=module", "-e", script];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  expect(existsSync(folder)).toBe(true);
  child.kill("SIGKILL");
  await vi.waitFor(() => expect(existsSync(folder)).toBe(false), { timeout: 20_000 });
});

test("it can be removed before", async () => {
  const folder = await makeFolder();
  removeAtExit(folder)();
  expect(existsSync(folder)).toBe(false);
});
