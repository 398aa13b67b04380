import { test } from "vitest";
import { killAgainAndAgain } from "./up-kill.ts";

const KILLS = 8;

test("every acknowledged command survives SIGKILL at any moment, and none is there by half", async () => {
  await killAgainAndAgain(KILLS);
}, 300_000);
