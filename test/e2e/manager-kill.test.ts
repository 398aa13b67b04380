import { expect, test } from "vitest";
import { killManager } from "./manager-kill.ts";

test("a manager that is killed in the middle of deployments loses none that it acknowledged", async () => {
  expect(await killManager(6, Math.random)).toBeGreaterThan(5);
}, 120_000);
