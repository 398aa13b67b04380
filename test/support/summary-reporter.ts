import { writeFileSync } from "node:fs";
import type { Reporter, SerializedError, TestCase, TestModule } from "vitest/node";

declare module "@vitest/runner" {
  interface TaskMeta {
    /** Why a test is skipped; printed at the end of a run. */
    skipReason?: string;
  }
}

/** What `scripts/test.mjs` needs to know of a run. */
export interface Summary {
  readonly passed: number;
  readonly failed: number;
  /** The names of those that did not come to an end, as their process did before. */
  readonly unfinished: readonly string[];
  readonly skipped: readonly Skip[];
}

export interface Skip {
  readonly test: string;
  /** Empty where the test gives none. */
  readonly reason: string;
}

/** Writes the summary of a run to a file, for `scripts/test.mjs` to print after everything else. */
export class SummaryReporter implements Reporter {
  readonly #path: string;
  /** Whether tests are picked by name: then those that were not picked are no skips. */
  #picked = false;

  constructor(path: string) {
    this.#path = path;
  }

  onInit(vitest: { readonly config: { readonly testNamePattern?: unknown } }): void {
    this.#picked = vitest.config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const states = tests.map((test) => test.result().state);
    // A file that does not load, a hook that throws and an error outside of any test fail no test.
    const suites = modules.flatMap((module) => [module, ...module.children.allSuites()]);
    const broken = suites.filter((suite) => suite.errors().length > 0);
    const summary: Summary = {
      passed: states.filter((state) => state === "passed").length,
      failed: states.filter((state) => state === "failed").length + broken.length + errors.length,
      unfinished: tests.filter((test) => test.result().state === "pending").map(nameOf),
      skipped: tests
        .filter((test) => test.result().state === "skipped")
        .map((test) => ({ test: nameOf(test), reason: reasonOf(test) }))
        .filter((skip) => !(this.#picked && skip.reason === "")),
    };
    writeFileSync(this.#path, JSON.stringify(summary));
  }
}

function nameOf(test: TestCase): string {
  return `${test.module.relativeModuleId} > ${test.fullName}`;
}

function reasonOf(test: TestCase): string {
  const result = test.result();
  const note = result.state === "skipped" ? result.note : undefined;
  return note ?? test.meta().skipReason ?? "";
}
