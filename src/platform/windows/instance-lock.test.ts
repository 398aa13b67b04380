import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { takeInstanceLock } from "./instance-lock.ts";

test("a second instance is refused with the pid of the first, until that one lets go", async () => {
  const folder = mkdtempSync(join(tmpdir(), "portolan-lock-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "pipe");
  const first = await takeInstanceLock("hcn", path);
  await expect(takeInstanceLock("hcn", path)).rejects.toThrow(`by pid ${process.pid}`);
  await first.release();
  await (await takeInstanceLock("hcn", path)).release();
});
