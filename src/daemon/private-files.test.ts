import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { keepPrivateFile, readTextFile, replaceTextFile } from "./private-files.ts";

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "portolan-files-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

test("a file is replaced whole, and the one before stays beside it", async () => {
  const path = join(await makeFolder(), "config");
  await replaceTextFile(path, "one");
  await replaceTextFile(path, "two");
  await replaceTextFile(path, "three");
  expect([readFileSync(path, "utf8"), readFileSync(`${path}.bak`, "utf8")]).toEqual([
    "three",
    "two",
  ]);
  expect(readdirSync(join(path, ".."))).toEqual(["config", "config.bak"]);
  await expect(replaceTextFile("/nowhere/file", "text")).rejects.toMatchObject({
    code: "ERR_STATE_UNREADABLE",
    message: expect.stringContaining("/nowhere/file can not be written"),
  });
});

test("a file that is too large, or not there, is named", async () => {
  const path = join(await makeFolder(), "file");
  writeFileSync(path, "12345");
  expect(await readTextFile(path, 5)).toBe("12345");
  await expect(readTextFile(path, 4)).rejects.toMatchObject({ code: "ERR_STATE_TOO_LARGE" });
  await expect(readTextFile(`${path}x`, 4)).rejects.toMatchObject({ code: "ERR_STATE_UNREADABLE" });
  await expect(readTextFile(join(path, ".."), 4)).rejects.toMatchObject({
    code: "ERR_STATE_UNREADABLE",
    message: `${join(path, "..")} can not be read: it is a folder; expected a regular file`,
  });
});

test("private files are for their user; another text never takes the place of one", async () => {
  const folder = join(await makeFolder(), "files");
  const one = await keepPrivateFile(folder, "web.pem", "one");
  const two = await keepPrivateFile(folder, "web.pem", "two");
  expect(await keepPrivateFile(folder, "web.pem", "one")).toBe(one);
  expect([one, two].map((path) => readFileSync(path, "utf8"))).toEqual(["one", "two"]);
  expect(statSync(one).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  const sly = await keepPrivateFile(folder, "../../etc/pass wd", "x");
  expect(basename(sly)).toMatch(/^pass_wd-[0-9a-f]{16}$/);
  expect(join(sly, "..")).toBe(folder);
});

test("a private file that the disk does not take is told as such, and nothing of it stays", async () => {
  const folder = await makeFolder();
  const path = await keepPrivateFile(folder, "web.pem", "text");
  rmSync(path);
  mkdirSync(path);
  await expect(keepPrivateFile(folder, "web.pem", "text")).rejects.toMatchObject({
    code: "ERR_JOURNAL",
    message: expect.stringMatching(
      /web-[0-9a-f]+\.pem can not be written: EISDIR.*nothing was changed/,
    ),
  });
  expect(readdirSync(folder)).toEqual([basename(path)]);
  const noFolder = join(folder, "file");
  writeFileSync(noFolder, "");
  await expect(keepPrivateFile(noFolder, "web.pem", "text")).rejects.toMatchObject({
    code: "ERR_JOURNAL",
  });
});
