import { describe, expect, test } from "vitest";
import type { ChainId } from "./chain-id.ts";
import { compareJumps, type IsJump, removeJumps } from "./compare-jumps.ts";
import { RestoreScript } from "./restore-script.ts";

const HOOK: ChainId = "nat PREROUTING";
const FIRST = "-j OURS-A";
const SECOND = '-m comment --comment "why" -j OURS-B';
const OF_OTHERS = "-s 192.0.2.1/32 -j OURS-A";

const isJump: IsJump = (_, rule) => /^(?:-m comment \S+ \S+ )?-j OURS-/.test(rule);

/** What is executed where a hook holds these rules. */
function lines(
  rules: readonly string[],
  plan: (actual: ReadonlyMap<ChainId, readonly string[]>, script: RestoreScript) => void,
): readonly string[] {
  const script = new RestoreScript();
  plan(new Map([[HOOK, rules]]), script);
  return script.sample(10);
}

describe("compared jumps", () => {
  const compared = (...rules: readonly string[]) =>
    lines(rules, (actual, script) =>
      compareJumps(actual, new Map([[HOOK, [FIRST, SECOND]]]), isJump, script),
    );
  const inserted = [`nat -I PREROUTING 1 ${SECOND}`, `nat -I PREROUTING 1 ${FIRST}`];

  test.each([
    ["before them", [OF_OTHERS, FIRST, SECOND]],
    ["between them", [FIRST, OF_OTHERS, SECOND]],
    ["behind them", [FIRST, SECOND, OF_OTHERS, "-j ACCEPT"]],
  ])("are right with rules of others %s that lead to the same chains", (_, rules) => {
    expect(compared(...rules)).toEqual([]);
  });

  test("are right without their comments", () => {
    expect(compared(FIRST, "-j OURS-B")).toEqual([]);
  });

  test.each([
    ["are missing", [OF_OTHERS]],
    ["are out of order", [SECOND, OF_OTHERS, FIRST]],
    ["stand twice", [FIRST, SECOND, OF_OTHERS, FIRST]],
    ["lead elsewhere", [FIRST, SECOND, "-j OURS-OLD"]],
  ])("are put in front anew where they %s, and others' rules stay", (_, rules) => {
    const ours = rules.filter((rule) => rule !== OF_OTHERS);
    expect(compared(...rules)).toEqual([
      ...ours.map((rule) => `nat -D PREROUTING ${rule}`),
      ...inserted,
    ]);
  });
});

test("jumps to chains that go are removed, each time that they stand there", () => {
  const rules = [FIRST, OF_OTHERS, "-j OURS-C", "-j ACCEPT", FIRST];
  const isGoing = (chain: ChainId) => chain === "nat OURS-A";
  const removed = lines(rules, (actual, script) => removeJumps(actual, isGoing, isJump, script));
  expect(removed).toEqual([`nat -D PREROUTING ${FIRST}`, `nat -D PREROUTING ${FIRST}`]);
});
