/**
 * Brings a fresh clone to where its commands work; quick where nothing is to be done.
 *
 *     node scripts/setup.mjs start    npm packages and build
 *     node scripts/setup.mjs test     the same, and the programs that tests call
 */
import { ensureBuild } from "./lib/build.mjs";
import { main, StepError } from "./lib/command.mjs";
import { ensurePrograms } from "./lib/debian.mjs";
import { checkNodeVersion } from "./lib/node-version.mjs";
import { ensurePackages } from "./lib/packages.mjs";

await main(() => {
  const [goal] = process.argv.slice(2);
  if (goal !== "start" && goal !== "test") {
    throw new StepError("usage: node scripts/setup.mjs start|test");
  }
  checkNodeVersion(process.versions.node);
  ensurePackages();
  ensureBuild();
  if (goal === "test") ensurePrograms();
});
