import { availableParallelism } from "node:os";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import { LongestFirst } from "./test/support/longest-first.ts";
import { SummaryReporter } from "./test/support/summary-reporter.ts";

const UNIT = ["src/**/*.test.ts", "bench/**/*.test.ts", "scripts/**/*.test.mjs"];
const LONG = "**/*.long.test.ts";
/** With programs that take minutes to build. */
const KUBE = "**/*.kube.test.ts";
/** Set by scripts/test.mjs. */
const { PORTOLAN_TEST_SCOPE: scope, PORTOLAN_TEST_SUMMARY: summary } = process.env;

function includedIn(wanted: string | undefined): string[] {
  if (wanted === "kube") return [KUBE];
  return wanted === "unit" ? UNIT : [...UNIT, "test/**/*.test.ts"];
}

const config: ViteUserConfig = defineConfig({
  test: {
    include: includedIn(scope),
    exclude: [
      "**/node_modules/**",
      "dist/**",
      ...(scope === "long" ? [] : [LONG]),
      ...(scope === "kube" ? [] : [KUBE]),
    ],
    reporters: summary === undefined ? ["default"] : ["default", new SummaryReporter(summary)],
    // By default one core is left alone, which on two cores is half of the machine.
    maxWorkers: availableParallelism(),
    // The scenarios of a contract wait for one of its drivers, which goes on with those of its state.
    maxConcurrency: 20,
    // Nothing in the code is a singleton, and to import it anew for each file takes longer than most tests.
    isolate: false,
    // What was transformed is kept for the next run.
    experimental: { fsModuleCache: true, fsModuleCachePath: ".cache/vitest" },
    sequence: { sequencer: LongestFirst },
    // Time enough on a machine that does other things as well: these limits are for what hangs.
    expect: { poll: { timeout: 20_000 } },
    testTimeout: scope === "long" || scope === "kube" ? 300_000 : 120_000,
    hookTimeout: 120_000,
  },
});

export default config;
