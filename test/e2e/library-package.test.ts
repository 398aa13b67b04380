import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { afterAll, beforeAll, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const ENTRIES = [
  "portolan",
  "portolan/core",
  "portolan/net",
  "portolan/proxy",
  "portolan/backends",
];
/** Of a package that has ES modules only, on purpose. */
const FOR_OTHERS = ["node10", "node16-cjs"];
const run = promisify(execFile);

let folder = "";
let files: readonly string[] = [];
let tarball = new Uint8Array();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "portolan-pack-"));
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const { stdout } = await run("npm", args, { cwd: ROOT, maxBuffer: 2 ** 26 });
  const [packed] = JSON.parse(stdout);
  files = packed.files.map(({ path }: { path: string }) => path);
  tarball = Uint8Array.from(readFileSync(join(folder, packed.filename)));
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the package holds what is needed, and nothing else", () => {
  const folders = new Set(files.map((path) => path.split("/")[0]));
  expect([...folders].toSorted()).toEqual([
    "CHANGELOG.md",
    "LICENSE",
    "README.md",
    "deploy",
    "dist",
    "examples",
    "package.json",
    "schema",
  ]);
  expect(files.filter((path) => /\.(test|fixture|contract)\.|(?<!\.d)\.ts$/.test(path))).toEqual(
    [],
  );
  const ofTests =
    /\/(scenarios|contract-|driver-pool|unmet-needs|render-docs|commands-doc|config-schema)/;
  expect(files.filter((path) => path.startsWith("dist/") && ofTests.test(path))).toEqual([]);
});

test("packages that are built into the command come with their licences", () => {
  const text = readFileSync(join(ROOT, "dist", "cli", "LICENSES.txt"), "utf8");
  expect(files).toContain("dist/cli/LICENSES.txt");
  const parts = text.split(/^-{80}$/m).map((part) => part.trim());
  const names = parts.map((part) => part.split(" ")[0]);
  expect(names).toEqual(expect.arrayContaining(["commander", "js-yaml", "prom-client", "zod"]));
  expect(names).not.toContain("koffi");
  // Each says who may do what; a line by itself would be a package without a word about it.
  expect(parts.filter((part) => !part.includes("\n"))).toEqual([]);
});

test("publint has nothing to say", async () => {
  const buffer = tarball.buffer;
  expect((await publint({ pack: { tarball: buffer } })).messages).toEqual([]);
});

test("types are found for every entry, and are those of what runs", async () => {
  const checked = await checkPackage(createPackageFromTarballData(tarball));
  if (checked.types === false) throw new Error("the package has no types");
  const entries = Object.keys(checked.entrypoints).filter(
    (name) => !/package.json|schema/.test(name),
  );
  expect(entries.map((name) => name.replace(".", "portolan"))).toEqual(ENTRIES);
  const problems = checked.problems.filter(
    (problem) => !("resolutionKind" in problem && FOR_OTHERS.includes(problem.resolutionKind)),
  );
  expect(problems).toEqual([]);
});

test.each(ENTRIES)(
  "importing %s starts nothing, and loads nothing of a platform",
  async (entry) => {
    const code = `
    const handles = process.getActiveResourcesInfo().length;
    const names = Object.keys(await import(${JSON.stringify(entry)}));
    const native = process.report.getReport().sharedObjects.filter((path) => path.includes("koffi"));
    process.once("beforeExit", () => {
      const more = process.getActiveResourcesInfo().length - handles;
      process.stdout.write(JSON.stringify({ names: names.length > 0, native, more }));
    });`;
    const options = { cwd: ROOT, timeout: 20_000 };
    const { stdout } = await run(
      process.execPath,
      ["--input-type=module", "--eval", code],
      options,
    );
    expect(JSON.parse(stdout)).toEqual({ names: true, native: [], more: 0 });
  },
);
