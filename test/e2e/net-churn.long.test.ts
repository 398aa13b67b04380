import { describe, expect, test } from "vitest";
import { requires } from "../support/requires.ts";
import { churn } from "./net-churn.ts";

describe("loops that come and go 100 times", requires("linux"), () => {
  test("lose no short connection, at up to 5,000 a second", async () => {
    const { succeeded, failed } = await churn({ rounds: 100, perSecond: 5000 });
    expect(failed).toEqual({});
    expect(succeeded).toBeGreaterThan(10_000);
  });
});
