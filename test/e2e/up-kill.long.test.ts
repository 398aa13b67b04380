import { test } from "vitest";
import { killAgainAndAgain } from "./up-kill.ts";

const KILLS = 1000;

test("every acknowledged command survives a thousand times SIGKILL at any moment", async () => {
  await killAgainAndAgain(KILLS);
}, 7_200_000);
