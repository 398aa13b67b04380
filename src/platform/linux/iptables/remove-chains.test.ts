import { expect, test } from "vitest";
import type { ChainId } from "./chain-id.ts";
import type { IsJump } from "./compare-jumps.ts";
import type { SavedChains } from "./parse-save.ts";
import { ledToByOthers, removeChains } from "./remove-chains.ts";
import { RestoreScript } from "./restore-script.ts";

const isOwned = (chain: ChainId): boolean => chain.startsWith("nat OURS-");
const isJump: IsJump = (_, rule) => rule.startsWith("-j OURS-");

test("others lead to chains of ours from their own chains by any rule, from hooks by all but our jumps", () => {
  const actual: SavedChains = new Map<ChainId, readonly string[]>([
    ["nat PREROUTING", ["-j OURS-A", "-s 192.0.2.1/32 -j OURS-B", "-j OTHERS"]],
    ["nat OTHERS", ["-j OURS-C", "-p tcp -g OURS-D", "-j ACCEPT"]],
    ["nat OURS-A", ["-s 192.0.2.1/32 -j OURS-E"]],
    ["filter INPUT", ["-s 192.0.2.1/32 -j OURS-A"]],
  ]);
  expect([...ledToByOthers(actual, isOwned, isJump)]).toEqual([
    "nat OURS-B",
    "nat OURS-C",
    "nat OURS-D",
  ]);
});

test("chains that others lead to are emptied where they hold something, all others deleted", () => {
  const actual: SavedChains = new Map<ChainId, readonly string[]>([
    ["nat OURS-A", ["-j ACCEPT"]],
    ["nat OURS-B", ["-j ACCEPT"]],
    ["nat OURS-C", []],
  ]);
  const script = new RestoreScript();
  removeChains(actual.keys(), new Set(["nat OURS-B", "nat OURS-C"]), actual, script);
  expect(script.sample(10)).toEqual([
    "nat :OURS-A - [0:0]",
    "nat :OURS-B - [0:0]",
    "nat -X OURS-A",
  ]);
});
