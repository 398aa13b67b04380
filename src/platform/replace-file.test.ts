import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { replaceFile } from "./replace-file.ts";

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "portolan-replace-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

test("a file is replaced whole, for its user alone, and what a crash left is no obstacle", async () => {
  const path = join(await makeFolder(), "key.pem");
  writeFileSync(`${path}.new`, "left", { mode: 0o644 });
  await replaceFile(path, "one");
  await replaceFile(path, "two");
  expect(readFileSync(path, "utf8")).toBe("two");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(path, ".."))).toEqual(["key.pem"]);
});

test("the text, and the name of the file, are on the disk", async () => {
  const folder = await makeFolder();
  const handle = await open(folder, "r");
  const sync = vi.spyOn(Object.getPrototypeOf(handle), "sync");
  onTestFinished(() => sync.mockRestore());
  await handle.close();
  await replaceFile(join(folder, "key.pem"), "text");
  expect(sync).toHaveBeenCalledTimes(2);
});

test("what can not be replaced stays, and nothing is left beside it", async () => {
  const folder = await makeFolder();
  mkdirSync(join(folder, "key.pem"));
  await expect(replaceFile(join(folder, "key.pem"), "text")).rejects.toThrow(/EISDIR|EEXIST/);
  expect(readdirSync(folder)).toEqual(["key.pem"]);
});
