import { describe, expect, test } from "vitest";
import { requires } from "../support/requires.ts";
import { tellRate } from "./churn-caller.ts";
import { churnEngine } from "./proxy-churn.ts";

const PER_SECOND = 5000;

describe("loops of an engine that come and go 100 times", requires("linux"), () => {
  test("lose no short connection, at up to 5,000 a second", { timeout: 900_000 }, async () => {
    const result = await churnEngine({ rounds: 100, perSecond: PER_SECOND });
    tellRate(result, PER_SECOND);
    expect(result.failed).toEqual({});
    expect(result.succeeded).toBeGreaterThan(10_000);
  });
});
