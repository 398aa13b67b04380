/** Adds to the lock file what npm left out of it; run it after a dependency was added or renewed. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { main, ROOT } from "./lib/command.mjs";
import { missingOptional } from "./lib/lock.mjs";

await main(() => {
  const path = join(ROOT, "package-lock.json");
  const lock = JSON.parse(readFileSync(path, "utf8"));
  const missing = missingOptional(lock.packages);
  const packages = Object.entries({ ...lock.packages, ...missing });
  packages.sort(([a], [b]) => a.localeCompare(b, "en"));
  writeFileSync(
    path,
    `${JSON.stringify({ ...lock, packages: Object.fromEntries(packages) }, null, 2)}\n`,
  );
  console.log(`Added ${Object.keys(missing).length} packages to package-lock.json.`);
});
