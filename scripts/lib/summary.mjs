/** @typedef {import("../../test/support/summary-reporter.ts").Summary} Summary */

/**
 * What is printed after a run, and its exit code. The last line is always the count.
 * @param {Summary | undefined} summary undefined where the runner ended before it wrote one
 * @param {number} runnerCode exit code of the runner
 * @param {boolean} skipsFail whether a skip is a failure
 * @returns {{ readonly lines: readonly string[], readonly code: number }}
 */
export function conclude(summary, runnerCode, skipsFail) {
  if (summary === undefined) {
    return { lines: ["the test runner ended without a result", count(0, 1, 0)], code: 1 };
  }
  const { passed, failed, unfinished, skipped } = summary;
  const lines = skipped.map(
    ({ test, reason }) => `skipped: ${test}: ${reason || "no reason given"}`,
  );
  lines.push(...unfinished.map((test) => `not finished: ${test}`));
  const nothingRan = passed + failed === 0;
  if (nothingRan) lines.push("no test ran");
  const refused = skipsFail && skipped.length > 0;
  if (refused) lines.push("PORTOLAN_TEST_REQUIRE=all: a skipped test is a failure");
  lines.push(count(passed, failed, skipped.length));
  const isFailure = failed + unfinished.length > 0 || nothingRan || refused;
  return { lines, code: runnerCode !== 0 ? runnerCode : Number(isFailure) };
}

/**
 * @param {number} passed
 * @param {number} failed
 * @param {number} skipped
 */
function count(passed, failed, skipped) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}
