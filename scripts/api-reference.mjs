/**
 * Makes the reference of the library in docs/api, from its types and their comments.
 *
 *     node scripts/api-reference.mjs
 *
 * typedoc needs a compiler of its own: TypeScript 7 has no programming interface yet.
 */
import { readdirSync } from "node:fs";
import { main, runNpm } from "./lib/command.mjs";

const TYPEDOC = "typedoc@0.28.20";
const COMPILER = "typescript@6.0.3";

await main(() => {
  const entries = readdirSync("src/library").map((file) => `src/library/${file}`);
  runNpm([
    "exec",
    "--yes",
    `--package=${TYPEDOC}`,
    `--package=${COMPILER}`,
    "--",
    "typedoc",
    "--tsconfig",
    "tsconfig.build.json",
    // The compiler in use checks them.
    "--skipErrorChecking",
    "--treatWarningsAsErrors",
    // A folder is a good place to point at.
    "--validation.invalidPath",
    "false",
    "--readme",
    "docs/library.md",
    "--name",
    "Portolan",
    "--out",
    "docs/api",
    "src/index.ts",
    ...entries,
  ]);
});
