import { describe, expect, test } from "vitest";
import { requires } from "../support/requires.ts";
import { expectAllServed } from "./churn-caller.ts";
import { churn } from "./net-churn.ts";

const PER_SECOND = 5000;

describe("loops that come and go 100 times", requires("linux"), () => {
  test("lose no short connection, at 5,000 a second", async () => {
    const result = await churn({ rounds: 100, perSecond: PER_SECOND });
    expectAllServed(result);
    process.stdout.write(`${result.succeeded} short connections\n`);
    expect(result.due).toBeGreaterThan(10_000);
  });
});
