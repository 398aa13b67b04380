import { expect, test } from "vitest";
import { featuresOf, type HnsFeatures, NEWEST_HNS } from "./hns-features.ts";

test.each<[number, number, keyof HnsFeatures, boolean]>([
  [9, 1, "v2", false],
  [9, 2, "v2", true],
  [9, 2, "dsr", false],
  [9, 3, "dsr", true],
  [10, 0, "dsr", false],
  [10, 2, "dsr", true],
  [11, 9, "dualStack", false],
  [11, 10, "dualStack", true],
  [11, 99, "affinity", false],
  [12, 0, "affinity", true],
  [15, 4, "modifyLoadBalancer", false],
  [15, 5, "modifyLoadBalancer", true],
])("HNS %i.%i: %s is %s", (major, minor, feature, expected) => {
  expect(featuresOf({ major, minor })[feature]).toBe(expected);
});

test("the newest has them all", () => {
  expect(Object.values(featuresOf(NEWEST_HNS))).not.toContain(false);
});
