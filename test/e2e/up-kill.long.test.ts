import { test } from "vitest";
import { killAgainAndAgain } from "./up-kill.ts";

const KILLS = 1000;
/** One more than the cores of a small machine: an instance waits for its disk, too. */
const LANES = 3;

test("every acknowledged command survives a thousand times SIGKILL at any moment", async () => {
  const { kills, acknowledged } = await killAgainAndAgain(KILLS, LANES);
  process.stdout.write(`${kills} kills; ${acknowledged} commands acknowledged, none lost\n`);
}, 7_200_000);
