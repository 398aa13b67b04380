/**
 * Compiles and runs one benchmark; without a name lists them.
 *
 *     node scripts/bench.mjs NAME [its arguments]
 */
import { readdirSync } from "node:fs";
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
  checkNodeVersion(process.versions.node);
  ensurePackages();
  ensureBuild();
  ensureBenchmarkPrograms(name);
  process.exitCode = await runNode([join(buildBenchmarks(), `${name}.js`), ...args]);
});
