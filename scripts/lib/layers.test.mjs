import { describe, expect, test } from "vitest";
import { LAYERS, violation } from "./layers.mjs";

describe("layers", () => {
  const folders = LAYERS.flat().filter((folder) => folder !== "index.ts");
  const rowOf = (/** @type {string} */ folder) => LAYERS.findIndex((row) => row.includes(folder));

  test.each(folders)("%s imports what is below it, and nothing else", (from) => {
    for (const to of folders) {
      const why = violation(`src/${from}/a.ts`, `../${to}/b.ts`);
      if (from === to || rowOf(from) < rowOf(to)) expect(why, to).toBeUndefined();
      else expect(why, to).toBeTypeOf("string");
    }
  });

  test("the library entry may import everything, and nothing imports it", () => {
    expect(violation("src/index.ts", "./core/errors.ts")).toBeUndefined();
    expect(violation("src/cli/main.ts", "../index.ts")).toMatch(/index\.ts, library -> cli/);
    expect(violation("src/cli/main.ts", "../library/core.ts")).toMatch(/cli is below library/);
  });

  test("a folder that the table does not know is refused in both directions", () => {
    expect(violation("src/misc/a.ts", "../core/errors.ts")).toMatch(/misc is in no layer/);
    expect(violation("src/cli/main.ts", "../misc/a.ts")).toMatch(/misc is in no layer/);
  });

  test("code does not reach out of src, tests may", () => {
    expect(violation("src/cli/main.ts", "../../test/support/cli.ts")).toMatch(/only code in src/);
    expect(violation("src/cli/main.test.ts", "../../test/support/cli.ts")).toBeUndefined();
  });
});

describe("backends", () => {
  test("do not import each other", () => {
    expect(violation("src/backends/ipvs/plan.ts", "../nftables/plan.ts")).toMatch(
      /ipvs imports nft/,
    );
    expect(violation("src/backends/ipvs/plan.ts", "./rules.ts")).toBeUndefined();
    expect(violation("src/backends/ipvs/plan.ts", "../backend.ts")).toBeUndefined();
  });

  test("are named by the registry alone", () => {
    expect(violation("src/backends/registry.ts", "./ipvs/ipvs.ts")).toBeUndefined();
    expect(violation("src/backends/backend.ts", "./ipvs/ipvs.ts")).toMatch(/only src.*registry/);
  });
});

describe("packages", () => {
  test("core imports no node: module, its tests may", () => {
    expect(violation("src/core/store/a.ts", "node:fs")).toMatch(/pure/);
    expect(violation("src/core/store/a.test.ts", "node:fs")).toBeUndefined();
    expect(violation("src/core/store/a.ts", "zod")).toBeUndefined();
    expect(violation("src/wire/a.ts", "node:fs")).toBeUndefined();
  });

  test("FFI is for the platform alone", () => {
    expect(violation("src/platform/linux/a.ts", "koffi")).toBeUndefined();
    expect(violation("src/net/posix/a.ts", "koffi")).toMatch(/only src\/platform/);
  });
});
