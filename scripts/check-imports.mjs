/** Checks the import rule of docs/architecture.md in all of `src`. */
import { readdirSync, readFileSync } from "node:fs";
import { join, posix, relative, sep } from "node:path";
import { main, ROOT, StepError } from "./lib/command.mjs";
import { importsOf } from "./lib/imports-of.mjs";
import { violation } from "./lib/layers.mjs";

await main(() => {
  const files = sourceFiles();
  let count = 0;
  for (const file of files) {
    for (const { specifier, line } of importsOf(file, readFileSync(join(ROOT, file), "utf8"))) {
      const why = violation(file, specifier);
      if (why === undefined) continue;
      count += 1;
      console.error(`${file}:${line}: import of "${specifier}": ${why}`);
    }
  }
  if (count > 0) throw new StepError(`${count} imports break the rule`);
  console.log(`Checked the imports of ${files.length} files.`);
});

/** @returns {readonly string[]} paths in the repository, with `/` */
function sourceFiles() {
  return readdirSync(join(ROOT, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join(posix.sep))
    .sort();
}
