import { describe, expect, test } from "vitest";
import { requires } from "../support/requires.ts";
import { churnEngine } from "./proxy-churn.ts";

describe("loops of an engine that come and go", requires("linux"), () => {
  test("lose no short connection", { timeout: 60_000 }, async () => {
    const { succeeded, failed } = await churnEngine({ rounds: 10, perSecond: 1000 });
    expect(failed).toEqual({});
    expect(succeeded).toBeGreaterThan(100);
  });
});
