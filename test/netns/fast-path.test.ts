import { describe, expect, test } from "vitest";
import { FAMILIES, type Family } from "../../src/core/model/address.ts";
import { probeFastPlane } from "../../src/platform/linux/fast-path/open-fast-plane.ts";
import { TCP_ESTABLISHED } from "../../src/wire/netlink/conntrack/tcp-flow.ts";
import { requires } from "../support/requires.ts";
import { type FastPair, FastStage, type FastWay } from "./fast-stage.ts";
import { iptables, NFTABLES } from "./kernel-subjects.ts";
import type { OverTimeSubject } from "./play.ts";
import { converse, inTime, pour } from "./tcp-streams.ts";

const MEGABYTE = 1 << 20;
const WORDS = 500;
/** Of some thousand. */
const FEW_PACKETS = 60;
const WAYS: readonly FastWay[] = ["cluster IP", "node port"];
/** Who hears of an end hears at once. */
const AT_ONCE_MS = 1000;

/** For both families at once. */
function inBoth(act: (family: Family) => Promise<void>): Promise<unknown> {
  return Promise.all(FAMILIES.map(act));
}

async function expectGone(stage: FastStage, pair: FastPair): Promise<void> {
  await expect
    .poll(async () => (await stage.flowOf(pair))?.state, { timeout: AT_ONCE_MS, interval: 10 })
    .not.toBe(TCP_ESTABLISHED);
}

async function pourBoth({ client, server }: FastPair, bytes: number): Promise<void> {
  await Promise.all([pour(client, server, bytes), pour(server, client, bytes)]);
}

function describeFastPath(subject: OverTimeSubject): void {
  test("what the rules translate passes without them, intact; it ends as others do", async () => {
    const stage = await FastStage.open(subject);
    await stage.serveAt("web-a");
    const pairs: FastPair[] = [];
    for (const family of FAMILIES) {
      for (const way of WAYS) {
        const pair = await stage.connectFast(family, "web-a", way);
        pairs.push(pair);
        const { client, server } = pair;
        const seen = await stage.countOf(pair, () => converse(client, server, WORDS));
        expect(seen).toBeLessThan(FEW_PACKETS);
        await pour(client, server, 8 * MEGABYTE);
        await pour(server, client, 8 * MEGABYTE);
        await pourBoth(pair, MEGABYTE);
        server.socket.end();
        expect(await inTime("an end", client.ended, AT_ONCE_MS)).toBe("end");
        client.socket.end();
        expect(await inTime("an end", server.ended, AT_ONCE_MS)).toBe("end");
        await expectGone(stage, pair);
      }
    }
    await stage.serveAt("web-b");
    for (const { family, way, fromPort } of pairs) {
      const again = await stage.connect(family, "web-b", way, fromPort);
      await stage.takePath(again);
    }
  });

  test("who resets a connection ends it for all: the next one of the same ends may come to others", async () => {
    const stage = await FastStage.open(subject);
    for (const [who, other] of [
      ["client", "server"],
      ["server", "client"],
    ] as const) {
      for (const bytes of [0, 100_000, 9 * MEGABYTE]) {
        await stage.serveAt("web-a");
        const before: FastPair[] = [];
        await inBoth(async (family) => {
          const pair = await stage.connectFast(family, "web-a");
          before.push(pair);
          await pourBoth(pair, bytes);
          pair[who].socket.resetAndDestroy();
          expect(await inTime("a reset", pair[other].ended, AT_ONCE_MS)).toBe("ECONNRESET");
          await expectGone(stage, pair);
        });
        await stage.serveAt("web-b");
        for (const { family, way, fromPort } of before) {
          await stage.connect(family, "web-b", way, fromPort);
        }
      }
    }
  });
}

const obstacle = process.getuid?.() === 0 ? probeFastPlane() : undefined;
const needs =
  obstacle === undefined
    ? requires("linux", "root", "ip", "nft", "tc")
    : { skip: true, meta: { skipReason: `${obstacle.what}: ${obstacle.remedy}` } };

describe("fast path", needs, () => {
  describe("nftables", () => {
    describeFastPath(NFTABLES);

    test("where it is off the rules see every packet", async () => {
      const stage = await FastStage.open(NFTABLES, { fastPath: "off" });
      await stage.serveAt("web-a");
      for (const family of FAMILIES) {
        const pair = await stage.connect(family, "web-a");
        const { client, server } = pair;
        const seen = await stage.countOf(pair, () => converse(client, server, WORDS));
        expect(seen).toBeGreaterThanOrEqual(2 * WORDS);
      }
    });
  });

  describe.each(["nft", "legacy"] as const)("iptables-%s", requires("iptables"), (mode) => {
    describeFastPath(iptables(mode));
  });
});
