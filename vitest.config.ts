import { availableParallelism } from "node:os";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import { LongestFirst } from "./test/support/longest-first.ts";
import { SummaryReporter } from "./test/support/summary-reporter.ts";

const UNIT = ["src/**/*.test.ts", "bench/**/*.test.ts", "scripts/**/*.test.mjs"];
const LONG = "**/*.long.test.ts";
/** Set by scripts/test.mjs. */
const { PORTOLAN_TEST_SCOPE: scope, PORTOLAN_TEST_SUMMARY: summary } = process.env;

const config: ViteUserConfig = defineConfig({
  test: {
    include: scope === "unit" ? UNIT : [...UNIT, "test/**/*.test.ts"],
    exclude: ["**/node_modules/**", "dist/**", ...(scope === "long" ? [] : [LONG])],
    reporters: summary === undefined ? ["default"] : ["default", new SummaryReporter(summary)],
    // By default one core is left alone, which on two cores is half of the machine.
    maxWorkers: availableParallelism(),
    // The scenarios of a contract wait for one of its drivers, which goes on with those of its state.
    maxConcurrency: 20,
    // Nothing in the code is a singleton, and to import it anew for each file takes longer than most tests.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    testTimeout: scope === "long" ? 300_000 : 30_000,
  },
});

export default config;
