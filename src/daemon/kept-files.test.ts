import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
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
  const files = new KeptFiles({ folder, used: () => [...used], asides: async () => [] });
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

test("a sweep leaves what is used, under way, named aside or not of its making", async () => {
  const folder = makeFolder();
  let used: readonly string[] | undefined;
  let asides = async (): Promise<readonly string[]> => [];
  const files = new KeptFiles({ folder, used: () => used, asides: () => asides() });
  const keep = async (text: string): Promise<string> => {
    const { path, release } = await files.keep("a.pem", text);
    await release();
    return path;
  };
  const [named, aside, gone] = [await keep("named"), await keep("aside"), await keep("gone")];
  const underWay = await files.keep("a.pem", "under way");
  writeFileSync(join(folder, "mine.pem"), "");
  writeFileSync(`${gone}.new`, "");
  const names = (): readonly string[] => readdirSync(folder).map((name) => join(folder, name));
  const all = names();
  await files.sweep();
  expect(names()).toEqual(all);
  used = [join("/another/way", basename(named))];
  asides = () => Promise.reject(new Error("EACCES"));
  await files.sweep();
  expect(names()).toEqual(all);
  asides = async () => [`{"keyFile":"${aside}"}`];
  await files.sweep();
  const left = [aside, named, underWay.path, join(folder, "mine.pem")];
  expect(names()).toEqual(left.sort());
  await underWay.release();
  expect(names()).not.toContain(underWay.path);
});
