/**
 * Runs the tests and ends with the line `N passed, M failed, K skipped`.
 *
 *     node scripts/test.mjs [unit|long|kube] [vitest's arguments]
 *
 * unit: the tests beside the code. Without a word: these and `test/`. long: also `*.long.test.ts`.
 * kube: only `*.kube.test.ts`, with a real API server, which is built where it is missing.
 * With PORTOLAN_TEST_REQUIRE=all a skipped test is a failure.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { main, runNode } from "./lib/command.mjs";
import { conclude } from "./lib/summary.mjs";

const VITEST = join("node_modules", "vitest", "vitest.mjs");
const SCOPES = ["unit", "long", "kube"];

await main(async () => {
  const [word, ...others] = process.argv.slice(2);
  const hasScope = word !== undefined && SCOPES.includes(word);
  const passedOn = hasScope ? others : process.argv.slice(2);
  const folder = mkdtempSync(join(tmpdir(), "portolan-test-"));
  const path = join(folder, "summary.json");
  try {
    const code = await runNode([VITEST, "run", ...passedOn], {
      PORTOLAN_TEST_SCOPE: hasScope ? word : "all",
      PORTOLAN_TEST_SUMMARY: path,
    });
    const summary = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
    const skipsFail = process.env.PORTOLAN_TEST_REQUIRE === "all";
    const conclusion = conclude(summary, code, skipsFail);
    for (const line of conclusion.lines) console.log(line);
    process.exitCode = conclusion.code;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
