import { describe, expect, test, vi } from "vitest";
import { FAMILIES } from "../../../core/model/address.ts";
import { TCP_FLAG, type TcpFlow } from "../../../wire/netlink/conntrack/tcp-flow.ts";
import { FakeTcpFlowTable } from "../conntrack/fake-tcp-flow-table.fixture.ts";
import { ConnectionKeeper, MOST_AT_ONCE } from "./connection-keeper.ts";
import { byLinks, type Connection, connectionOf } from "./connections.fixture.ts";
import { FakeFastPlane } from "./fake-fast-plane.fixture.ts";
import type { FastFlow } from "./fast-flow.ts";
import { idOf } from "./fast-flow.ts";
import { MOST_TAKEN } from "./fast-plane.ts";

const { beLiberal, dataUnacknowledged, maxAckSet } = TCP_FLAG;
const NOW_NS = 100_000_000_000n;
/** Longer than anybody may rest. */
const LONG_AGO = { untilNs: NOW_NS - 5_000_000_001n };
const LATELY = { untilNs: NOW_NS - 5_000_000_000n };
const TIMEOUT_S = 86_400;
/** Of enum tcp_conntrack. */
const FIN_WAIT = 4;
const LIBERAL = { original: beLiberal, reply: beLiberal };
/** As they are while data are on the way. */
const BUSY = { original: beLiberal | dataUnacknowledged | maxAckSet, reply: beLiberal | maxAckSet };

function setUp(...tracked: readonly TcpFlow[]) {
  const plane = new FakeFastPlane();
  const table = new FakeTcpFlowTable(tracked);
  const keeper = new ConnectionKeeper({
    plane,
    table,
    establishedS: async () => TIMEOUT_S,
    nowNs: () => NOW_NS,
    random: () => 0,
  });
  return { plane, table, keeper };
}

/** Both directions, which agree about what was said, or do not. */
function giveBoth(plane: FakeFastPlane, { asks, answers }: Connection, isSettled = true): void {
  plane.give(asks, { ...LONG_AGO, end: 1000, acknowledged: 77 });
  plane.give(answers, { ...LONG_AGO, end: 77, acknowledged: isSettled ? 1000 : 900 });
}

/** The next call of that kind fails. */
function failOnce(table: FakeTcpFlowTable, call: "ask" | "change"): void {
  vi.spyOn(table, call).mockRejectedValueOnce(new Error("no answer"));
}

const WEB = connectionOf("v4");
const lasting = ({ tracked }: Connection) => ({
  tuple: tracked.original,
  set: 0,
  clear: dataUnacknowledged | maxAckSet,
  timeoutS: TIMEOUT_S,
});

describe("who was proposed", () => {
  test.each(FAMILIES)("takes the path, and tracking lets it: %s", async (family) => {
    const { asks, answers, tracked } = connectionOf(family);
    const { plane, table, keeper } = setUp({ ...tracked, flags: { original: 0x01, reply: 0x03 } });
    plane.seen = [asks, answers];
    await keeper.admit();
    expect(plane.admitted).toEqual([answers, asks]);
    expect(keeper.size).toBe(2);
    expect(table.changes).toEqual([{ tuple: tracked.original, set: beLiberal, clear: 0 }]);
    expect(table.flows[0]?.flags).toEqual({ original: beLiberal | 0x01, reply: beLiberal | 0x03 });
  });

  test("waits for the other direction, and nothing is said of it before", async () => {
    const { plane, table, keeper } = setUp(WEB.tracked);
    plane.seen = [WEB.asks];
    await keeper.admit();
    await keeper.review();
    expect([plane.admitted, table.changes, keeper.size]).toEqual([[], [], 0]);
    plane.seen = [WEB.answers];
    await keeper.admit();
    expect(plane.admitted).toEqual([WEB.answers, WEB.asks]);
    expect(keeper.size).toBe(2);
    expect(table.changes).toHaveLength(1);
  });

  test("does not wait for longer than until the second review", async () => {
    const { plane, keeper } = setUp(WEB.tracked);
    plane.seen = [WEB.asks];
    await keeper.admit();
    await keeper.review();
    await keeper.review();
    plane.seen = [WEB.answers];
    await keeper.admit();
    expect([plane.admitted, keeper.size]).toEqual([[], 0]);
  });

  test("follows the other direction where that takes the path", async () => {
    const { plane, keeper } = setUp(WEB.tracked);
    plane.give(WEB.asks, LATELY);
    await keeper.review();
    expect(keeper.size).toBe(1);
    plane.seen = [WEB.answers];
    await keeper.admit();
    expect(plane.admitted).toEqual([WEB.answers]);
    expect(keeper.size).toBe(2);
  });

  test("is counted and marked once where it is proposed again", async () => {
    const { plane, table, keeper } = setUp(WEB.tracked);
    for (const seen of [[WEB.asks, WEB.answers], [WEB.asks], [WEB.answers, WEB.asks]]) {
      plane.seen = seen;
      await keeper.admit();
      expect([keeper.size, plane.taken().length]).toEqual([2, 2]);
    }
    expect(table.changes).toHaveLength(1);
  });

  test.each<readonly [string, Partial<TcpFlow>]>([
    ["is closing", { state: FIN_WAIT }],
    ["has not been answered", { isAssured: false }],
    ["is not translated", { isTranslated: false }],
    ["is read along", { hasHelper: true }],
    ["has its sequence numbers altered", { adjustsSequences: true }],
  ])("goes by the rules where it %s", async (_, difference) => {
    const other = connectionOf("v4", 1);
    const { plane, table, keeper } = setUp({ ...WEB.tracked, ...difference }, other.tracked);
    plane.seen = [WEB.asks, WEB.answers, other.asks, other.answers];
    await keeper.admit();
    expect(plane.admitted).toEqual([other.answers, other.asks]);
    expect(table.changes.map(({ tuple }) => tuple)).toEqual([other.tracked.original]);
  });

  test("goes by the rules where nobody tracks it", async () => {
    const { plane, table, keeper } = setUp();
    plane.seen = [WEB.asks, WEB.answers];
    await keeper.admit();
    expect([plane.admitted, table.changes, keeper.size]).toEqual([[], [], 0]);
  });

  test.each([
    [LIBERAL, 0],
    [{ original: beLiberal, reply: 0 }, 1],
    [{ original: 0, reply: beLiberal }, 1],
  ])("is marked only where a direction is not: %o", async (flags, count) => {
    const { plane, table, keeper } = setUp({ ...WEB.tracked, flags });
    plane.seen = [WEB.asks, WEB.answers];
    await keeper.admit();
    expect(table.changes).toHaveLength(count);
    expect(table.flows[0]?.flags).toEqual(LIBERAL);
    expect(plane.admitted).toEqual([WEB.answers, WEB.asks]);
  });

  test("does not take the path where tracking can not be told", async () => {
    const { plane, table, keeper } = setUp(WEB.tracked);
    plane.seen = [WEB.asks, WEB.answers];
    table.change = async () => {
      throw new Error("refused");
    };
    await expect(keeper.admit()).rejects.toThrow("refused");
    expect([plane.admitted, keeper.size]).toEqual([[], 0]);
  });

  test("nobody is asked where there is none", async () => {
    const { table, keeper } = setUp();
    table.failure = new Error("nobody was to ask");
    await keeper.admit();
    expect(table.changes).toEqual([]);
  });

  test("no more are looked at than so many at a time; the others are to be proposed again", async () => {
    const { plane, keeper } = setUp({ ...WEB.tracked, flags: LIBERAL });
    plane.seen = pairsFrom(0, MOST_AT_ONCE + 1);
    await keeper.admit();
    expect([keeper.size, plane.seen]).toEqual([2 * MOST_AT_ONCE, []]);
    await keeper.admit();
    expect(keeper.size).toBe(2 * MOST_AT_ONCE);
  });

  test("where they are too many, everyone's turn comes: it begins at another place each time", async () => {
    const plane = new FakeFastPlane();
    const table = new FakeTcpFlowTable([{ ...WEB.tracked, flags: LIBERAL }]);
    const establishedS = async () => TIMEOUT_S;
    const nowNs = () => NOW_NS;
    const random = () => 0.999;
    const keeper = new ConnectionKeeper({ plane, table, establishedS, nowNs, random });
    const all = pairsFrom(0, MOST_AT_ONCE + 1);
    plane.seen = [...all];
    await keeper.admit();
    const last = all.slice(-2).map(({ key }) => idOf(key));
    expect(plane.admitted.map(({ key }) => idOf(key))).toEqual(expect.arrayContaining(last));
  });

  test("goes by the rules where what was learned is not how the kernel translates it", async () => {
    const other = connectionOf("v4", 1);
    const { plane, keeper } = setUp(WEB.tracked, other.tracked);
    const mixed = { ...WEB.asks, value: other.asks.value };
    const answers = { ...other.answers, value: WEB.answers.value };
    plane.seen = [mixed, answers];
    await keeper.admit();
    expect(plane.admitted).toEqual([]);
  });

  test("no more take the path than the maps hold, until some of them rest", async () => {
    const { plane, table, keeper } = setUp({ ...WEB.tracked, flags: LIBERAL });
    const late = pairsFrom(MOST_TAKEN, MOST_AT_ONCE);
    plane.seen = late.filter((_, index) => index % 2 === 0);
    await keeper.admit();
    expect(keeper.size).toBe(0);
    await fill(plane, keeper);
    plane.seen = late.filter((_, index) => index % 2 === 1);
    await keeper.admit();
    expect([keeper.size, plane.taken().length]).toEqual([MOST_TAKEN, MOST_TAKEN]);

    const other = connectionOf("v4", 1);
    table.flows.push(other.tracked);
    plane.seen = [other.asks, other.answers];
    await keeper.admit();
    expect(plane.admitted).toHaveLength(MOST_TAKEN);
    expect(table.changes).toEqual([]);
    await keeper.review();
    expect([keeper.size, plane.taken().length]).toEqual([0, 0]);
    plane.seen = [other.asks, other.answers];
    await keeper.admit();
    expect(keeper.size).toBe(2);
  });

  test("nobody is looked at where not all of them might find room", async () => {
    const { plane, keeper } = setUp({ ...WEB.tracked, flags: LIBERAL });
    await fill(plane, keeper);
    plane.seen = pairsFrom(MOST_TAKEN, 1);
    await keeper.admit();
    expect(keeper.size).toBe(MOST_TAKEN - 2 * MOST_AT_ONCE + 2);
    plane.seen = pairsFrom(MOST_TAKEN + 2, 1);
    await keeper.admit();
    expect([keeper.size, plane.seen.length]).toEqual([MOST_TAKEN - 2 * MOST_AT_ONCE + 2, 2]);
  });
});

/** As many as may take the path while others still may. */
async function fill(plane: FakeFastPlane, keeper: ConnectionKeeper): Promise<void> {
  while (keeper.size < MOST_TAKEN - 2 * MOST_AT_ONCE) {
    plane.seen = pairsFrom(keeper.size, MOST_AT_ONCE / 2);
    await keeper.admit();
  }
}

/** Both directions of each, by two links of its own from that one on: one connection of all of them is enough then. */
function pairsFrom(link: number, count: number): FastFlow[] {
  return Array.from({ length: count }, (_, number) => link + 2 * number).flatMap((one) => [
    byLinks(WEB.asks, one, one + 1),
    byLinks(WEB.answers, one + 1, one),
  ]);
}

describe("who takes the path", () => {
  test("leaves it where both directions rest, and lasts as if it had always gone by the rules", async () => {
    for (const family of FAMILIES) {
      const connection = connectionOf(family);
      const { plane, table, keeper } = setUp({ ...connection.tracked, flags: BUSY });
      giveBoth(plane, connection);
      await keeper.review();
      expect(plane.taken()).toEqual([]);
      expect(keeper.size).toBe(0);
      expect(table.changes).toEqual([lasting(connection)]);
      expect(table.flows[0]).toMatchObject({ timeoutS: TIMEOUT_S, flags: LIBERAL });
    }
  });

  test.each([
    ["an answer that came lately", { ...LONG_AGO }, { ...LATELY }],
    ["a question that came lately", { ...LATELY }, { ...LONG_AGO }],
  ])("stays with both directions because of %s", async (_, asks, answers) => {
    const other = connectionOf("v4", 1);
    const { plane, table, keeper } = setUp(WEB.tracked, other.tracked);
    plane.give(WEB.asks, asks);
    plane.give(WEB.answers, answers);
    giveBoth(plane, other);
    await keeper.review();
    expect(plane.taken().map(({ key }) => key)).toEqual([WEB.asks.key, WEB.answers.key]);
    expect(keeper.size).toBe(2);
    expect(table.changes).toEqual([lasting(other)]);
  });

  test.each(["asks", "answers"] as const)(
    "leaves it and lasts where there is no other direction: only one that %s",
    async (direction) => {
      const { plane, table, keeper } = setUp({ ...WEB.tracked, flags: BUSY });
      plane.give(WEB[direction], { ...LONG_AGO, end: 1000, acknowledged: 77 });
      await keeper.review();
      expect(plane.taken()).toEqual([]);
      expect(table.changes).toEqual([lasting(WEB)]);
      expect(table.flows[0]).toMatchObject({ timeoutS: TIMEOUT_S, flags: LIBERAL });
    },
  );

  test.each([
    ["of both", {}, {}],
    ["of the answers", { end: 1000, acknowledged: 77 }, {}],
    ["of what was asked", {}, { end: 77, acknowledged: 900 }],
    ["of what was acknowledged", { end: 1000 }, { end: 77 }],
  ])("leaves it and lasts where nothing is known %s", async (_, asks, answers) => {
    const { plane, table, keeper } = setUp({ ...WEB.tracked, flags: BUSY });
    plane.give(WEB.asks, { ...LONG_AGO, ...asks });
    plane.give(WEB.answers, { ...LONG_AGO, ...answers });
    await keeper.review();
    expect(plane.taken()).toEqual([]);
    expect(table.changes).toEqual([lasting(WEB)]);
  });

  test.each(["ask", "change"] as const)(
    "is let last by the next review where the kernel did not answer: %s",
    async (call) => {
      const { plane, table, keeper } = setUp({ ...WEB.tracked, flags: BUSY });
      giveBoth(plane, WEB);
      failOnce(table, call);
      await expect(keeper.review()).rejects.toThrow("no answer");
      expect([plane.taken(), keeper.size, table.changes]).toEqual([[], 0, []]);
      await keeper.review();
      expect(table.changes).toEqual([lasting(WEB)]);
      await keeper.review();
      expect(table.changes).toHaveLength(1);
    },
  );

  test("is let last by the next review where others that rested could not be looked at", async () => {
    const other = connectionOf("v4", 1);
    const { plane, table, keeper } = setUp(WEB.tracked, other.tracked);
    giveBoth(plane, WEB);
    await keeper.review();
    giveBoth(plane, other);
    failOnce(table, "ask");
    await expect(keeper.review()).rejects.toThrow("no answer");
    expect(table.changes).toEqual([lasting(WEB)]);
    await keeper.review();
    expect(table.changes).toEqual([lasting(WEB), lasting(other)]);
  });

  test("is not to last where something is not acknowledged, nor where it is closing", async () => {
    const closing = connectionOf("v4", 1);
    const { plane, table, keeper } = setUp(
      { ...WEB.tracked, flags: BUSY },
      { ...closing.tracked, flags: BUSY, state: FIN_WAIT },
    );
    giveBoth(plane, WEB, false);
    giveBoth(plane, closing);
    await keeper.review();
    expect(plane.taken()).toEqual([]);
    expect(table.changes).toEqual([]);
  });

  test("is forgotten where nobody tracks it any more", async () => {
    const { plane, table, keeper } = setUp();
    giveBoth(plane, WEB);
    await keeper.review();
    expect([plane.taken(), table.changes]).toEqual([[], []]);
  });

  test("is dismissed with all others, whether it rests or not", async () => {
    const [busy, closing] = [connectionOf("v6", 1), connectionOf("v4", 2)];
    const { plane, table, keeper } = setUp(
      WEB.tracked,
      { ...busy.tracked, flags: BUSY },
      { ...closing.tracked, state: FIN_WAIT },
    );
    plane.seen = [WEB.asks, WEB.answers];
    await keeper.admit();
    table.changes.splice(0);
    giveBoth(plane, busy, false);
    plane.give(closing.asks);
    await keeper.dismiss();
    expect([plane.taken(), keeper.size]).toEqual([[], 0]);
    expect(table.changes).toEqual([lasting(WEB), lasting(busy)]);
    await keeper.dismiss();
    expect(table.changes).toHaveLength(2);
  });
});

describe("who rested", () => {
  /** As tracking has it after a probe: nothing came for 30 s of what it takes for data. */
  const MISLED = { flags: BUSY, timeoutS: 270 };

  /** One that was let last, of which tracking knows that now. */
  async function setUpRested(now: Partial<TcpFlow> = MISLED) {
    const all = setUp(WEB.tracked);
    const { plane, table, keeper } = all;
    giveBoth(plane, WEB);
    await keeper.review();
    expect(table.changes.splice(0)).toEqual([lasting(WEB)]);
    const track = (state: Partial<TcpFlow>) => {
      table.flows[0] = { ...WEB.tracked, ...state };
    };
    track(now);
    return { ...all, track };
  }

  test("is corrected where it owes an acknowledgement, and is quiet", async () => {
    for (const flags of [BUSY, { original: BUSY.reply, reply: BUSY.original }]) {
      const { table, keeper } = await setUpRested({ ...MISLED, flags });
      await keeper.review();
      expect(table.changes).toEqual([lasting(WEB)]);
      expect(table.flows[0]).toMatchObject({ timeoutS: TIMEOUT_S, flags: LIBERAL });
      await keeper.review();
      expect(table.changes).toHaveLength(1);
    }
  });

  test.each<readonly [string, Partial<TcpFlow>]>([
    ["it said something lately", { ...MISLED, timeoutS: 271 }],
    ["it owes nothing", { ...MISLED, flags: { original: BUSY.reply, reply: BUSY.reply } }],
  ])("is left alone where %s, and looked at again", async (_, now) => {
    const { table, keeper, track } = await setUpRested(now);
    await keeper.review();
    expect(table.changes).toEqual([]);
    track(MISLED);
    await keeper.review();
    expect(table.changes).toEqual([lasting(WEB)]);
  });

  test.each<readonly [string, Partial<TcpFlow> | undefined]>([
    ["it is closing", { ...MISLED, state: FIN_WAIT }],
    ["its ends have another connection", { ...MISLED, id: 99 }],
    ["nobody tracks it any more", undefined],
  ])("is forgotten where %s", async (_, now) => {
    const { table, keeper, track } = await setUpRested(now);
    if (now === undefined) table.flows.splice(0);
    await keeper.review();
    track(MISLED);
    await keeper.review();
    expect(table.changes).toEqual([]);
  });

  test("is corrected four times, and once more after it took the path again", async () => {
    const { plane, table, keeper, track } = await setUpRested();
    for (let time = 0; time < 6; time += 1) {
      track(MISLED);
      await keeper.review();
    }
    expect(table.changes).toHaveLength(4);
    giveBoth(plane, WEB);
    await keeper.review();
    track(MISLED);
    await keeper.review();
    expect(table.changes).toHaveLength(6);
  });

  test("is not looked at while it takes the path again", async () => {
    const { plane, table, keeper, track } = await setUpRested();
    plane.seen = [WEB.asks, WEB.answers];
    await keeper.admit();
    for (const flow of [WEB.asks, WEB.answers]) plane.give(flow, LATELY);
    track(MISLED);
    table.changes.splice(0);
    await keeper.review();
    expect([keeper.size, table.changes]).toEqual([2, []]);
  });

  test("is corrected by the next review where the kernel did not answer", async () => {
    for (const call of ["ask", "change"] as const) {
      const { table, keeper } = await setUpRested();
      failOnce(table, call);
      await expect(keeper.review()).rejects.toThrow("no answer");
      expect(table.changes).toEqual([]);
      await keeper.review();
      expect(table.changes).toEqual([lasting(WEB)]);
    }
  });

  test("is not given up for a correction that the kernel did not take", async () => {
    const { table, keeper, track } = await setUpRested();
    for (let time = 0; time < 4; time += 1) {
      track(MISLED);
      failOnce(table, "change");
      await expect(keeper.review()).rejects.toThrow("no answer");
    }
    await keeper.review();
    expect(table.changes).toEqual([lasting(WEB)]);
  });

  test("is looked at where a process that ended left it, too", async () => {
    const { table, keeper } = setUp({ ...WEB.tracked, flags: LIBERAL });
    expect(await keeper.recover()).toBe(1);
    table.flows[0] = { ...WEB.tracked, ...MISLED };
    await keeper.review();
    expect(table.changes).toEqual([lasting(WEB), lasting(WEB)]);
  });

  test("is not looked at where something was not acknowledged indeed", async () => {
    const { plane, table, keeper } = setUp({ ...WEB.tracked, ...MISLED });
    giveBoth(plane, WEB, false);
    await keeper.review();
    await keeper.review();
    expect([plane.taken(), table.changes]).toEqual([[], []]);
  });
});

test("of a process that ended, those last that it let take the path, and no others", async () => {
  const left = FAMILIES.map((family) => connectionOf(family));
  const { table, keeper } = setUp(
    ...left.map(({ tracked }) => ({ ...tracked, flags: BUSY })),
    { ...connectionOf("v4", 1).tracked, flags: { original: beLiberal, reply: 0 } },
    { ...connectionOf("v4", 2).tracked, flags: LIBERAL, isTranslated: false },
    { ...connectionOf("v6", 3).tracked, flags: LIBERAL, isTranslated: false },
  );
  expect(await keeper.recover()).toBe(2);
  expect(table.changes).toEqual(left.map(lasting));
  table.flows.push({ ...connectionOf("v4", 4).tracked, flags: LIBERAL, state: FIN_WAIT });
  table.changes.splice(0);
  expect(await keeper.recover()).toBe(2);
  expect(table.changes).toEqual(left.map(lasting));
});

test("who rested when the kernel did not answer is let last where all are dismissed", async () => {
  const { plane, table, keeper } = setUp(WEB.tracked);
  giveBoth(plane, WEB);
  failOnce(table, "ask");
  await expect(keeper.review()).rejects.toThrow("no answer");
  await keeper.dismiss();
  expect(table.changes).toEqual([lasting(WEB)]);
});

test("of a process that ended, nobody is let last where all are closing", async () => {
  const { table, keeper } = setUp({ ...WEB.tracked, flags: LIBERAL, state: FIN_WAIT });
  expect(await keeper.recover()).toBe(0);
  expect(table.changes).toEqual([]);
});
