import { describe, expect, test } from "vitest";
import { requires } from "../support/requires.ts";
import { expectAllServed } from "./churn-caller.ts";
import { churnEngine } from "./proxy-churn.ts";

const PER_SECOND = 5000;

describe("loops of an engine that come and go 100 times", requires("linux"), () => {
  test("lose no short connection, at 5,000 a second", { timeout: 900_000 }, async () => {
    const result = await churnEngine({ rounds: 100, perSecond: PER_SECOND });
    expectAllServed(result);
    process.stdout.write(`${result.succeeded} short connections\n`);
    expect(result.due).toBeGreaterThan(10_000);
  });
});
