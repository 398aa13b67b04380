/**
 * Compiles and runs one benchmark; without a name lists them, with --help explains one.
 *
 *     node scripts/bench.mjs NAME [--help | its arguments]
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { buildBenchmarks, ensureBuild } from "./lib/build.mjs";
import { main, ROOT, runNode, StepError } from "./lib/command.mjs";
import { ensureBenchmarkPrograms } from "./lib/debian.mjs";
import { checkNodeVersion } from "./lib/node-version.mjs";
import { ensurePackages } from "./lib/packages.mjs";

await main(async () => {
  const [name, ...args] = process.argv.slice(2);
  const names = readdirSync(join(ROOT, "bench"))
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .map((file) => file.slice(0, -".ts".length));
  if (name === undefined) {
    console.log(`Benchmarks: ${names.join(", ")}. Run one with: npm run bench -- NAME`);
    return;
  }
  if (!names.includes(name)) {
    throw new StepError(`there is no benchmark "${name}"; there are: ${names.join(", ")}`);
  }
  if (args.includes("--help")) {
    console.log(openingWords(readFileSync(join(ROOT, "bench", `${name}.ts`), "utf8")));
    return;
  }
  checkNodeVersion(process.versions.node);
  ensurePackages();
  ensureBuild();
  ensureBenchmarkPrograms(name);
  process.exitCode = await runNode([join(buildBenchmarks(), `${name}.js`), ...args]);
});

/**
 * What a file says about itself.
 * @param {string} source
 */
function openingWords(source) {
  const comment = source.slice("/**".length, source.indexOf("*/"));
  return comment.replaceAll(/^ \* ?/gm, "").trim();
}
