import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { FileBook } from "./file-book.ts";

const NEVER_MS = 1_000_000;

function setUp() {
  const folder = mkdtempSync(join(tmpdir(), "portolan-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "file");
  let changes = 0;
  const parse = (text: string): number => {
    if (Number.isNaN(Number(text))) throw new Error(`"${text}" is no number`);
    return Number(text);
  };
  const onChanged = () => {
    changes += 1;
  };
  const book = new FileBook({ parse, onChanged, pollMs: NEVER_MS });
  onTestFinished(() => book.close());
  const entry = async () => (await book.follow(new Set([path]))).get(path);
  return { book, path, entry, changes: () => changes };
}

test("a file is read, and again when it changes", async () => {
  const { book, path, entry, changes } = setUp();
  writeFileSync(path, "1");
  expect(await entry()).toMatchObject({ value: 1, problem: "" });
  await book.look();
  expect(changes()).toBe(0);
  writeFileSync(path, "22");
  await book.look();
  expect(changes()).toBe(1);
  expect(await entry()).toMatchObject({ value: 22, problem: "" });
});

test("one that can not be used says why, and the value before it stays", async () => {
  const { book, path, entry, changes } = setUp();
  writeFileSync(path, "1");
  await entry();
  writeFileSync(path, "one");
  await book.look();
  expect(await entry()).toMatchObject({ value: 1, problem: '"one" is no number' });
  rmSync(path);
  await book.look();
  expect(await entry()).toMatchObject({ value: 1, problem: expect.stringContaining("ENOENT") });
  expect(changes()).toBe(2);
});

test.skipIf(process.platform === "win32")("a pipe is not waited for", async () => {
  const { path, entry } = setUp();
  execFileSync("mkfifo", [path]);
  expect(await entry()).toMatchObject({
    value: undefined,
    problem: "it is a pipe; expected a regular file",
  });
});

test("one that is missing is found when it comes", async () => {
  const { book, path, entry } = setUp();
  expect(await entry()).toMatchObject({ value: undefined });
  writeFileSync(path, "1");
  await book.look();
  expect(await entry()).toMatchObject({ value: 1 });
});

test("what is wanted no more is forgotten", async () => {
  const { book, path, entry, changes } = setUp();
  writeFileSync(path, "1");
  await entry();
  expect(await book.follow(new Set())).toEqual(new Map());
  writeFileSync(path, "22");
  await book.look();
  expect(changes()).toBe(0);
});
