import { expect, test } from "vitest";
import { verdictOf } from "./survey.ts";
import { surveyDirect } from "./survey-direct.ts";

test("what keeps connections from being direct is no small flaw: they are not", async () => {
  const obstacle = { what: "no cgroups", remedy: "mount them" };
  const surveyed = await surveyDirect(async () => obstacle);
  expect(verdictOf(surveyed)).toBe("missing");
  expect(surveyed.findings).toEqual([{ severity: "missing", ...obstacle }]);
  expect(verdictOf(await surveyDirect(async () => undefined))).toBe("works");
});
