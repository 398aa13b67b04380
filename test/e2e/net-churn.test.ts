import { describe, expect, test } from "vitest";
import { requires } from "../support/requires.ts";
import { churn } from "./net-churn.ts";

describe("loops that come and go", requires("linux"), () => {
  test("lose no short connection", async () => {
    const { succeeded, failed } = await churn({ rounds: 5, perSecond: 1000 });
    expect(failed).toEqual({});
    expect(succeeded).toBeGreaterThan(100);
  });
});
