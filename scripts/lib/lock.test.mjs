import { expect, test } from "vitest";
import lock from "../../package-lock.json" with { type: "json" };
import { isInstalled, missingOptional } from "./lock.mjs";

const WANTED = {
  "": { version: "0.1.0" },
  "node_modules/a": { version: "1.0.0" },
  "node_modules/for-another-platform": { version: "1.0.0", optional: true },
};

test("content with what the lock file wants, without packages of other platforms", () => {
  expect(isInstalled(WANTED, { "node_modules/a": { version: "1.0.0" } })).toBe(true);
});

test.each([
  ["a missing package", {}],
  ["another version", { "node_modules/a": { version: "2.0.0" } }],
  ["one too many", { "node_modules/a": { version: "1.0.0" }, "node_modules/b": { version: "1" } }],
])("not content with %s", (_, packages) => {
  expect(isInstalled(WANTED, packages)).toBe(false);
});

test("knows which packages of other platforms are missing", () => {
  const optionalDependencies = { "@a/cli-linux-x64-musl": "1.0.0", "@a/cli-wasm32": "1.0.0" };
  const owner = { version: "1.0.0", dev: true, optionalDependencies };
  const present = { "node_modules/a": owner, "node_modules/@a/cli-wasm32": { version: "1.0.0" } };
  expect(missingOptional(present)).toEqual({
    "node_modules/@a/cli-linux-x64-musl": {
      version: "1.0.0",
      cpu: ["x64"],
      dev: true,
      optional: true,
      os: ["linux"],
    },
  });
});

test("our lock file is complete, or else: node scripts/complete-lock.mjs", () => {
  expect(Object.keys(missingOptional(lock.packages))).toEqual([]);
});
