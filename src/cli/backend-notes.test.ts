import { expect, test } from "vitest";
import type { Verdict } from "../core/route/verdict.ts";
import { compareLive, describeLive, isAgreed } from "./backend-notes.ts";

const VERDICT: Verdict = { kind: "not-ours", reasons: [], others: [] };

function conclude(differences: readonly string[], doubts: readonly string[]) {
  const live = { lines: [], differencesFrom: () => differences, doubtsAbout: () => doubts };
  const comparison = compareLive(live, VERDICT);
  return { ends: isAgreed(comparison), lines: describeLive(comparison).slice(1) };
}

test.each([
  [[], [], true, ["It does as the reference says"]],
  [["drop"], [], false, ["It DIFFERS from the reference", "  - drop"]],
  [["drop"], ["ttl"], false, ["It DIFFERS from the reference", "  - drop"]],
  [
    [],
    ["ttl"],
    false,
    ["It can NOT BE TOLD whether it does as the reference says", "  - not known: ttl"],
  ],
])("differences %j and doubts %j", (differences, doubts, ends, lines) => {
  expect(conclude(differences, doubts)).toEqual({ ends, lines });
});
