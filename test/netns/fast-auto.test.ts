import { describe, expect, test } from "vitest";
import { FAMILIES, type Family } from "../../src/core/model/address.ts";
import { type FastPair, FastStage } from "./fast-stage.ts";
import { iptables, NFTABLES } from "./kernel-subjects.ts";
import { requiresTcx } from "./requires-tcx.ts";
import { converse } from "./tcp-streams.ts";

const FIRST_PORT = 50_000;
const WORDS = 500;
/** Of some thousand. */
const FEW_PACKETS = 60;
/** Until it would have opened by itself. */
const OPENING_MS = 3000;

async function openPairs(
  stage: FastStage,
  families: readonly Family[] = FAMILIES,
): Promise<readonly FastPair[]> {
  await stage.serveAt("web-a");
  const pairs: FastPair[] = [];
  for (const [number, family] of families.entries()) {
    pairs.push(await stage.connect(family, "web-a", "cluster IP", FIRST_PORT + number));
  }
  return pairs;
}

const talk = async (pairs: readonly FastPair[]): Promise<void> => {
  await Promise.all(pairs.map(({ client, server }) => converse(client, server, WORDS)));
};

describe("fast path by itself", requiresTcx("linux", "root", "ip", "nft", "iptables"), () => {
  test.each([
    ["nftables", NFTABLES, FAMILIES],
    ["iptables-nft", iptables("nft"), ["v4"]],
    ["iptables-legacy", iptables("legacy"), ["v6"]],
  ] as const)("%s: packets pass without the rules once many do", async (_, subject, families) => {
    const stage = await FastStage.open(subject, { fastPath: "auto" });
    const pairs = await openPairs(stage, families);
    const least = 2 * WORDS * families.length;
    expect(await stage.forwardedIn(() => talk(pairs))).toBeGreaterThanOrEqual(least);
    await expect
      .poll(() => stage.forwardedIn(() => talk(pairs)), { interval: 10 })
      .toBeLessThan(FEW_PACKETS);
  });

  test("none do where a rule of somebody else would miss them", async () => {
    const stage = await FastStage.open(NFTABLES, { fastPath: "auto" });
    stage.nft("add rule inet counting stop counter");
    const pairs = await openPairs(stage);
    const end = performance.now() + OPENING_MS;
    while (performance.now() < end) await talk(pairs);
    expect(await stage.forwardedIn(() => talk(pairs))).toBeGreaterThanOrEqual(4 * WORDS);
  });
});
