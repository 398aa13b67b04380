import { describe, expect, test } from "vitest";
import { requires } from "../support/requires.ts";
import { expectAllServed } from "./churn-caller.ts";
import { churn } from "./net-churn.ts";

describe("loops that come and go", requires("linux"), () => {
  test("lose no short connection", async () => {
    const result = await churn({ rounds: 5, perSecond: 1000 });
    expectAllServed(result);
    expect(result.due).toBeGreaterThan(100);
  });
});
