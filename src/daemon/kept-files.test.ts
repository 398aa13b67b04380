import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { KeptFiles } from "./kept-files.ts";

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "portolan-kept-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test("a file goes with the last command that wanted it, unless something uses it", async () => {
  const folder = makeFolder();
  const used = new Set<string>();
  const files = new KeptFiles(folder, (path) => used.has(path));
  const [one, same, other] = await Promise.all([
    files.keep("a.pem", "text"),
    files.keep("a.pem", "text"),
    files.keep("a.pem", "other"),
  ]);
  expect(same.path).toBe(one.path);
  expect(other.path).not.toBe(one.path);
  await one.release();
  expect(existsSync(one.path)).toBe(true);
  used.add(other.path);
  await Promise.all([same.release(), other.release()]);
  expect(readdirSync(folder).map((name) => join(folder, name))).toEqual([other.path]);
});
