import { expect, test } from "vitest";
import { verdictOf } from "./survey.ts";
import { surveyFast } from "./survey-fast.ts";

test("what keeps packets from the fast path is told with its remedy", async () => {
  const obstacle = { what: "Linux 6.1 has no programs of type tcx", remedy: "boot Linux 6.6" };
  const surveyed = await surveyFast(async () => ({ kind: "obstacle", ...obstacle }));
  expect(verdictOf(surveyed)).toBe("missing");
  expect(surveyed.findings).toEqual([{ severity: "missing", ...obstacle }]);
  const works = await surveyFast(async () => ({ kind: "links", names: ["eth0"] }));
  expect(verdictOf(works)).toBe("works");
});
