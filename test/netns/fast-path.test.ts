import { closeSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { FAMILIES, type Family } from "../../src/core/model/address.ts";
import { BpfAssembler } from "../../src/platform/linux/bpf/assembler.ts";
import { createLink } from "../../src/platform/linux/bpf/bpf-link.ts";
import { ATTACH_TYPE, PROGRAM_TYPE, VERDICT } from "../../src/platform/linux/bpf/bpf-numbers.ts";
import { loadProgram } from "../../src/platform/linux/bpf/bpf-program.ts";
import { TCP_ESTABLISHED, TCP_FLAG } from "../../src/wire/netlink/conntrack/tcp-flow.ts";
import { requires } from "../support/requires.ts";
import { type FastPair, FastStage, type FastWay, serviceAt } from "./fast-stage.ts";
import { iptables, NFTABLES } from "./kernel-subjects.ts";
import type { OverTimeSubject } from "./play.ts";
import { requiresTcx } from "./requires-tcx.ts";
import { sendReset } from "./send-reset.ts";
import { converse, inTime, pour } from "./tcp-streams.ts";

const MEGABYTE = 1 << 20;
const WORDS = 500;
/** Of some thousand. */
const FEW_PACKETS = 60;
const WAYS: readonly FastWay[] = ["cluster IP", "node port"];
/** Who hears of an end hears at once. */
const AT_ONCE_MS = 1000;
/** Of rules that somebody else makes. */
const STOPPED_MS = 2500;
/** As the kernel remembers connections that say nothing and owe nothing. */
const LONG_S = 400_000;

/** By whom, who hears of it, and after how many bytes each way. */
const RESETS = [
  ["client", "server", 0],
  ["client", "server", 9 * MEGABYTE],
  ["server", "client", 0],
  ["server", "client", 100_000],
] as const;
/** So short that it may be over in the moment in which it takes the path. */
const LONGEST_TALK = 20;
/** Of those whose packets nobody counts. */
const FIRST_UNCOUNTED = 50_000;
const UNACKNOWLEDGED = "/proc/sys/net/netfilter/nf_conntrack_tcp_timeout_unacknowledged";
/** With which the system asks whether the other end is there: until the next, for a second. */
const PROBING_MS = 1500;

/** For both families at once. */
function inBoth(act: (family: Family) => Promise<void>): Promise<unknown> {
  return Promise.all(FAMILIES.map(act));
}

async function expectGone(stage: FastStage, pair: FastPair): Promise<void> {
  await expect
    .poll(async () => (await stage.flowOf(pair))?.state, { timeout: AT_ONCE_MS, interval: 10 })
    .not.toBe(TCP_ESTABLISHED);
}

type Side = "client" | "server";

async function expectReset(
  stage: FastStage,
  pair: FastPair,
  who: Side,
  other: Side,
): Promise<void> {
  pair[who].socket.resetAndDestroy();
  expect(await inTime("a reset", pair[other].ended, AT_ONCE_MS)).toBe("ECONNRESET");
  await expectGone(stage, pair);
}

async function pourBoth({ client, server }: FastPair, bytes: number): Promise<void> {
  await Promise.all([pour(client, server, bytes), pour(server, client, bytes)]);
}

async function expectRested(stage: FastStage, pair: FastPair): Promise<void> {
  const { maxAckSet } = TCP_FLAG;
  const state = async () => {
    const flow = await stage.flowOf(pair);
    if (flow === undefined) return "forgotten";
    const { flags, timeoutS } = flow;
    return {
      isTrusted: ((flags.original | flags.reply) & maxAckSet) === 0,
      lasts: timeoutS > LONG_S,
    };
  };
  await expect.poll(state, { interval: 50 }).toEqual({ isTrusted: true, lasts: true });
}

async function expectLasting(stage: FastStage, pair: FastPair): Promise<void> {
  await expect
    .poll(async () => (await stage.flowOf(pair))?.timeoutS, { interval: 50, timeout: 12_000 })
    .toBeGreaterThan(LONG_S);
}

/** So many connections, each of which talks for a while, up to some 200 ms, and calls `act` then. */
async function talkShortly(
  stage: FastStage,
  count: number,
  act: (pair: FastPair, number: number) => Promise<void> = async () => undefined,
): Promise<readonly FastPair[]> {
  const pairs: FastPair[] = [];
  for (let number = 0; number < count; number += 1) {
    const family = number % 2 === 0 ? "v4" : "v6";
    const fromPort = FIRST_UNCOUNTED + number;
    pairs.push(await stage.connect(family, "web-a", "cluster IP", fromPort));
  }
  await Promise.all(
    pairs.map(async (pair, number) => {
      for (let time = 0; time < 1 + (number % LONGEST_TALK); time += 1) {
        await converse(pair.client, pair.server, 3);
        await delay(10);
      }
      await act(pair, number);
    }),
  );
  return pairs;
}

/** Says words until one is not heard. @returns what waits for that one */
async function firstUnheard({ client, server }: FastPair): Promise<readonly [Promise<unknown>]> {
  for (;;) {
    client.write("x");
    const word = server.read(1, 10_000);
    await delay(10);
    const isHeard = await Promise.race([word.then(() => true), delay(300).then(() => false)]);
    if (!isHeard) return [word];
  }
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
        const bytes = way === "cluster IP" ? 8 * MEGABYTE : MEGABYTE;
        await pour(client, server, bytes);
        await pour(server, client, bytes);
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
    for (const [who, other, bytes] of RESETS) {
      await stage.serveAt("web-a");
      const before: FastPair[] = [];
      await inBoth(async (family) => {
        const pair = await stage.connectFast(family, "web-a");
        before.push(pair);
        await pourBoth(pair, bytes);
        await expectReset(stage, pair, who, other);
      });
      await stage.serveAt("web-b");
      for (const { family, way, fromPort } of before) {
        await stage.connect(family, "web-b", way, fromPort);
      }
    }
  });
}

/** What only some of the backends are tested with: the programs are the same for all. */
function describeFastLife(subject: OverTimeSubject): void {
  test("who rests is remembered as long as others, goes on, and can be reset", async () => {
    const stage = await FastStage.open(subject);
    // Sooner than 300 s, so that nobody has to wait.
    stage.network.inside("node-a", () => writeFileSync(UNACKNOWLEDGED, "60"));
    await stage.serveAt("web-a");
    const bursts = await talkShortly(stage, 40);
    await inBoth(async (family) => {
      const tells = await stage.connect(family, "web-a");
      const tell = async () => {
        for (let time = 0; time < WORDS / 10; time += 1) await pour(tells.client, tells.server, 9);
      };
      await vi.waitFor(async () => expect(await stage.countOf(tells, tell)).toBeLessThan(10));
      const connect = () => stage.connectFast(family, "web-a");
      const [talks, resets, isReset] = [await connect(), await connect(), await connect()];
      for (const pair of [talks, resets]) await pourBoth(pair, MEGABYTE);
      for (const pair of [talks, resets, isReset, tells]) await expectRested(stage, pair);
      await expectReset(stage, resets, "client", "server");
      await expectReset(stage, isReset, "server", "client");
      await stage.takePath(talks);
      tells.client.socket.setKeepAlive(true, 1000);
      await delay(PROBING_MS);
      tells.client.socket.setKeepAlive(false);
      await expectLasting(stage, tells);
    });
    for (const pair of bursts) await expectLasting(stage, pair);
  });

  test("a process that is killed leaves connections to the next one", async () => {
    const stage = await FastStage.open(subject);
    await stage.serveAt("web-a");
    const pairs: FastPair[] = [];
    for (const family of FAMILIES) {
      const pair = await stage.connectFast(family, "web-a");
      pairs.push(pair);
      await pourBoth(pair, 16 * MEGABYTE);
    }
    let isOver = false;
    const restarted = stage.play.restart(...serviceAt("web-a")).finally(() => {
      isOver = true;
    });
    while (!isOver) for (const { client, server } of pairs) await converse(client, server, 1);
    await restarted;
    for (const pair of pairs) {
      expect((await stage.flowOf(pair))?.timeoutS).toBeGreaterThan(LONG_S);
      await stage.takePath(pair);
      await pourBoth(pair, MEGABYTE);
      pair.client.socket.resetAndDestroy();
      await expectGone(stage, pair);
    }
  });

  test("one that ends leaves them to the rules, as if they had always gone by these", async () => {
    const stage = await FastStage.open(subject);
    await stage.serveAt("web-a");
    const pairs: FastPair[] = [];
    for (const family of FAMILIES) pairs.push(await stage.connectFast(family, "web-a"));
    for (const pair of pairs) await pourBoth(pair, MEGABYTE);
    const options = { ...subject.options, fastPath: "off" };
    await stage.play.switchTo({ ...subject, options }, ...serviceAt("web-a"));
    for (const pair of pairs) {
      const { client, server } = pair;
      const flow = await stage.flowOf(pair);
      expect(flow?.state).toBe(TCP_ESTABLISHED);
      expect(flow?.timeoutS).toBeGreaterThan(LONG_S);
      const seen = await stage.countOf(pair, () => converse(client, server, WORDS));
      expect(seen).toBeGreaterThanOrEqual(2 * WORDS);
      client.socket.resetAndDestroy();
      await expectGone(stage, pair);
    }
  });

  test("rules of others that drop, and neighbours that change, are followed", async () => {
    const stage = await FastStage.open(subject);
    await stage.serveAt("web-a");
    const pairs = await Promise.all(FAMILIES.map((family) => stage.connectFast(family, "web-a")));
    stage.nft(
      ...pairs.map(
        ({ fromPort }) =>
          `add rule inet counting stop meta l4proto tcp ct original proto-src ${fromPort} drop`,
      ),
    );
    const ruledAt = performance.now();
    const words = await Promise.all(pairs.map(firstUnheard));
    expect(performance.now() - ruledAt).toBeLessThan(STOPPED_MS);
    stage.nft("flush chain inet counting stop");
    await Promise.all(words.flat());
    for (const pair of pairs) await stage.takePath(pair);
    stage.network.ip("web-a", ["link set eth0 address 02:00:00:00:00:55"]);
    // As the node would hear in time.
    stage.network.ip("node-a", ["neighbour flush dev veth-web-a"]);
    for (const pair of pairs) {
      const { client, server } = pair;
      await converse(client, server, 1);
      await stage.takePath(pair);
    }
  });

  test("links with programs of others are left alone", async () => {
    const stage = await FastStage.open(subject);
    await stage.serveAt("web-a");
    const { network } = stage;
    network.exec("node-a", "tc", ["qdisc", "add", "dev", "veth-client-a", "clsact"]);
    network.inside("node-a", () => {
      const instructions = new BpfAssembler().move("r0", VERDICT.next).exit().assemble();
      const attachType = ATTACH_TYPE.tcxIngress;
      const type = PROGRAM_TYPE.schedClassifier;
      const program = loadProgram({ name: "stranger", type, attachType, instructions });
      const target = Number.parseInt(
        network.exec("node-a", "ip", ["-oneline", "link", "show", "eth-outside"]),
        10,
      );
      const link = createLink({ program, target, attachType });
      onTestFinished(() => {
        closeSync(link);
        closeSync(program);
      });
    });
    await stage.play.restart(...serviceAt("web-a"));
    for (const way of WAYS) {
      for (const family of FAMILIES) {
        const pair = await stage.connect(family, "web-a", way);
        const { client, server } = pair;
        await converse(client, server, WORDS);
        const seen = await stage.countOf(pair, () => converse(client, server, WORDS));
        expect(seen).toBeGreaterThanOrEqual(2 * WORDS);
      }
    }
  });

  test("what a link does not take in one piece is told to who sends it", async () => {
    const stage = await FastStage.open(subject);
    await stage.serveAt("web-a");
    for (const family of FAMILIES) {
      const early = await stage.connectFast(family, "web-a");
      await pourBoth(early, MEGABYTE);
      stage.network.ip("node-a", ["link set veth-web-a mtu 1400"]);
      await pourBoth(early, MEGABYTE);
      const late = await stage.connectFast(family, "web-a");
      const flag = family === "v4" ? "-4" : "-6";
      const routes = (...args: readonly string[]): string =>
        stage.network.exec("client-a", "ip", [flag, "route", ...args]);
      routes("flush", "cache");
      const toService = ["get", stage.placeOf(late).to];
      expect(routes(...toService)).not.toContain("mtu");
      await pour(late.client, late.server, 1440);
      expect(routes(...toService)).toContain("mtu 1400");
      await pourBoth(late, MEGABYTE);
      stage.network.ip("node-a", ["link set veth-web-a mtu 1500"]);
    }
  });

  test("a reset by who does not know where the connection is ends nothing", async () => {
    const stage = await FastStage.open(subject);
    await stage.serveAt("web-a");
    await inBoth(async (family) => {
      const pair = await stage.connectFast(family, "web-a");
      const { client, server } = pair;
      await pourBoth(pair, 100_000);
      for (let part = 0; part < 16; part += 1) {
        sendReset(stage.network, stage.placeOf(pair), part * 2 ** 28);
        expect((await stage.flowOf(pair))?.state).toBe(TCP_ESTABLISHED);
        await converse(client, server, 1);
      }
      await stage.takePath(pair);
    });
  });

  test("who asks whether the other end is there still knows where the connection is", async () => {
    const stage = await FastStage.open(subject);
    await stage.serveAt("web-a");
    await inBoth(async (family) => {
      const pairs: FastPair[] = [];
      for (const who of ["client", "server"] as const) {
        const pair = await stage.connectFast(family, "web-a");
        pairs.push(pair);
        await pourBoth(pair, MEGABYTE);
        pair[who].socket.setKeepAlive(true, 1000);
      }
      await delay(PROBING_MS);
      const [byClient, byServer] = pairs;
      if (byClient !== undefined) await expectReset(stage, byClient, "client", "server");
      if (byServer !== undefined) await expectReset(stage, byServer, "server", "client");
    });
  });

  test("a reset ends a connection that was about to take the path", async () => {
    const stage = await FastStage.open(subject);
    await stage.serveAt("web-a");
    await talkShortly(stage, 150, (pair, number) =>
      number % 3 === 0
        ? expectReset(stage, pair, "server", "client")
        : expectReset(stage, pair, "client", "server"),
    );
  });
}

describe("fast path", requiresTcx("linux", "root", "ip", "nft", "tc"), () => {
  describe("nftables", () => {
    describeFastPath(NFTABLES);
    describeFastLife(NFTABLES);

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
