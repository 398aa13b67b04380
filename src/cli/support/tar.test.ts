import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { writeTar } from "./tar.ts";

const MODIFIED_MS = Date.UTC(2026, 0, 2, 3, 4, 5);

test("the system's tar reads it", () => {
  const folder = mkdtempSync(join(tmpdir(), "portolan-tar-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const texts = {
    empty: "",
    "deep/short.txt": "héllo\n",
    block: "x".repeat(512),
    long: "y".repeat(1300),
  };
  const files = Object.entries(texts).map(([name, text]) => ({ name, text }));
  writeFileSync(join(folder, "a.tar"), writeTar("bundle", files, MODIFIED_MS));
  const { status, stderr } = spawnSync("tar", ["-xf", "a.tar"], { cwd: folder, encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  for (const { name, text } of files) {
    expect(readFileSync(join(folder, "bundle", name), "utf8")).toBe(text);
  }
  const { mode, mtimeMs } = statSync(join(folder, "bundle", "block"));
  expect([mode & 0o777, mtimeMs]).toEqual([0o600, MODIFIED_MS]);
});

test("a name that has no room is refused, not cut", () => {
  expect(() => writeTar("f", [{ name: "n".repeat(120), text: "" }], 0)).toThrow(/is too long/);
});
