import { expect, test } from "vitest";
import { killManager } from "./manager-kill.ts";

const KILLS = 300;

test(`${KILLS} kills of a manager lose no deployment that it acknowledged`, async () => {
  expect(await killManager(KILLS, Math.random)).toBeGreaterThan(KILLS);
}, 3_600_000);
