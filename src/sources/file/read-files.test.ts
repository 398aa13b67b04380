import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadState } from "./load-state.ts";
import { listFiles, readFiles } from "./read-files.ts";

let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-files-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

const write = (name: string, text: string) => writeFile(join(folder, name), text);

test("a folder means its state files, in order, without hidden ones and sub-folders", async () => {
  await mkdir(join(folder, "sub.yaml"));
  for (const name of ["b.yml", "a.yaml", "c.json", ".hidden.yaml", "notes.txt", "a.yaml~"]) {
    await write(name, "");
  }
  const files = await listFiles(folder);
  expect(files.map((file) => basename(file.path))).toEqual(["a.yaml", "b.yml", "c.json"]);
});

test("a file is read whatever it is called", async () => {
  await write("state", "version: 1\nnodes: {n1: {}}\n");
  expect((await loadState(join(folder, "state"))).objects).toHaveLength(1);
});

test("the limit is over all files", async () => {
  await write("a.yaml", "x".repeat(60));
  await write("b.yaml", "x".repeat(40));
  const files = await listFiles(folder);
  expect((await readFiles(files, 100)).map((file) => file.bytes.length)).toEqual([60, 40]);
  await expect(readFiles(files, 99)).rejects.toMatchObject({
    code: "ERR_STATE_TOO_LARGE",
    message: expect.stringMatching(
      /b\.yaml: the files up to this one: more than 99 bytes; expected less, or a higher --max-file-bytes$/,
    ),
  });
});

test("a file that does not say its size is read up to the limit, not more", async () => {
  const endless = [{ path: "/dev/zero", bytes: 0, version: "" }];
  await expect(readFiles(endless, 100_000)).rejects.toMatchObject({ code: "ERR_STATE_TOO_LARGE" });
});

test("what is not there is told with its path and what would be right", async () => {
  const path = join(folder, "nothing.yaml");
  await expect(loadState(path)).rejects.toMatchObject({
    code: "ERR_STATE_UNREADABLE",
    message: expect.stringMatching(
      /nothing\.yaml: can not be read \(ENOENT.*; expected a state file, or a folder/,
    ),
  });
});

const run = promisify(execFile);

test.each([
  ["fifo.yaml", "a FIFO", (path: string) => run("mkfifo", [path])],
  ["device.yaml", "a device", (path: string) => symlink("/dev/zero", path)],
])("%s is refused before it is opened", async (name, what, make) => {
  const path = join(folder, name);
  await make(path);
  const refused = {
    code: "ERR_STATE_UNREADABLE",
    message: `${path}: can not be read (it is ${what}); expected a state file, or a folder of *.yaml, *.yml and *.json files`,
  };
  await expect(listFiles(path)).rejects.toMatchObject(refused);
  await expect(listFiles(folder)).rejects.toMatchObject(refused);
});

test("a link to a file is that file", async () => {
  await write("a.yaml", "version: 1\n");
  await symlink("a.yaml", join(folder, "b.yaml"));
  expect(await listFiles(join(folder, "b.yaml"))).toMatchObject([{ bytes: 11 }]);
});

test("every write changes the version", async () => {
  await write("a.yaml", "1");
  const [before] = await listFiles(folder);
  await write("a.yaml", "2");
  const [after] = await listFiles(folder);
  expect(after?.version).not.toBe(before?.version);
});
