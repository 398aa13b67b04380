import { describe, expect, test } from "vitest";
import { requires } from "../support/requires.ts";
import { churnEngine } from "./proxy-churn.ts";

describe("loops of an engine that come and go 100 times", requires("linux"), () => {
  test("lose no short connection, at up to 5,000 a second", { timeout: 900_000 }, async () => {
    const { succeeded, failed } = await churnEngine({ rounds: 100, perSecond: 5000 });
    expect(failed).toEqual({});
    expect(succeeded).toBeGreaterThan(10_000);
  });
});
