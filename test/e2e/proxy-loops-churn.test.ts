import { describe, expect, test } from "vitest";
import { requires } from "../support/requires.ts";
import { expectAllServed } from "./churn-caller.ts";
import { churnEngine } from "./proxy-churn.ts";

describe("loops of an engine that come and go", requires("linux"), () => {
  test("lose no short connection", { timeout: 60_000 }, async () => {
    const result = await churnEngine({ rounds: 10, perSecond: 1000 });
    expectAllServed(result);
    expect(result.due).toBeGreaterThan(100);
  });
});
