import { expect, test } from "vitest";
import { TOPOLOGY } from "../../src/core/route/scenarios/topology.ts";
import { NFTABLES } from "./kernel-subjects.ts";
import { at, endpoint, Play, service } from "./play.ts";

const TABLES = ["ip portolan", "ip6 portolan"];
/** Whoever comes so far is told so. */
const REFUSE_UNTRANSLATED = [
  "add table inet byhand",
  "add chain inet byhand late { type filter hook prerouting priority 0; }",
  `add rule inet byhand late tcp dport ${TOPOLOGY.port} reject with tcp reset`,
];

/** What no timing of a test brings about for sure: packets in the middle of a change, made by hand. */
export function describeSecondTry(): void {
  test("who is led nowhere in the middle of a change is served all the same", async () => {
    const play = await openPlay();
    nft(
      play,
      TABLES.map((table) => `flush chain ${table} prerouting`),
    );
    expect(await play.call()).toBe(at("web-b"));
    // As a look-up leaves it that found nothing.
    nft(
      play,
      TABLES.map((table) => `add rule ${table} prerouting meta priority set 8000:0`),
    );
    expect(await play.call()).toBe(at("web-b"));
  });

  test("who finds no endpoint twice is dropped: nobody else gets it", async () => {
    const play = await openPlay();
    nft(
      play,
      TABLES.map((table) => `flush map ${table} endpoints`),
    );
    nft(play, REFUSE_UNTRANSLATED);
    expect(await play.call()).toBe("silence");
  });
}

async function openPlay(): Promise<Play> {
  const play = await Play.open(NFTABLES);
  await play.apply(service(), endpoint("web-b"));
  return play;
}

function nft({ stage }: Play, commands: readonly string[]): void {
  stage.network.exec("node-a", "nft", ["-f", "-"], `${commands.join("\n")}\n`);
}
