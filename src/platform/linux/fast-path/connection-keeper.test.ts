import { describe, expect, test } from "vitest";
import { FAMILIES } from "../../../core/model/address.ts";
import { TCP_FLAG, type TcpFlow } from "../../../wire/netlink/conntrack/tcp-flow.ts";
import { FakeTcpFlowTable } from "../conntrack/fake-tcp-flow-table.fixture.ts";
import { ConnectionKeeper, MOST_AT_ONCE } from "./connection-keeper.ts";
import { type Connection, connectionOf } from "./connections.fixture.ts";
import { FakeFastPlane } from "./fake-fast-plane.fixture.ts";
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
  });
  return { plane, table, keeper };
}

/** Both directions, which agree about what was said, or do not. */
function giveBoth(plane: FakeFastPlane, { asks, answers }: Connection, isSettled = true): void {
  plane.give(asks, { ...LONG_AGO, end: 1000, acknowledged: 77 });
  plane.give(answers, { ...LONG_AGO, end: 77, acknowledged: isSettled ? 1000 : 900 });
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
    plane.seen = [asks];
    await keeper.admit();
    expect(plane.admitted).toEqual([asks]);
    expect(keeper.size).toBe(1);
    expect(table.changes).toEqual([{ tuple: tracked.original, set: beLiberal, clear: 0 }]);
    expect(table.flows[0]?.flags).toEqual({ original: beLiberal | 0x01, reply: beLiberal | 0x03 });

    plane.seen = [answers];
    await keeper.admit();
    expect(plane.admitted).toEqual([asks, answers]);
    expect(keeper.size).toBe(2);
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
    plane.seen = [WEB.asks, WEB.answers, other.asks];
    await keeper.admit();
    expect(plane.admitted).toEqual([other.asks]);
    expect(table.changes.map(({ tuple }) => tuple)).toEqual([other.tracked.original]);
  });

  test("goes by the rules where nobody tracks it", async () => {
    const { plane, table, keeper } = setUp();
    plane.seen = [WEB.asks];
    await keeper.admit();
    expect([plane.admitted, table.changes, keeper.size]).toEqual([[], [], 0]);
  });

  test.each([
    [LIBERAL, 0],
    [{ original: beLiberal, reply: 0 }, 1],
    [{ original: 0, reply: beLiberal }, 1],
  ])("is marked only where a direction is not: %o", async (flags, count) => {
    const { plane, table, keeper } = setUp({ ...WEB.tracked, flags });
    plane.seen = [WEB.asks];
    await keeper.admit();
    expect(table.changes).toHaveLength(count);
    expect(table.flows[0]?.flags).toEqual(LIBERAL);
    expect(plane.admitted).toEqual([WEB.asks]);
  });

  test("does not take the path where tracking can not be told", async () => {
    const { plane, table, keeper } = setUp(WEB.tracked);
    plane.seen = [WEB.asks];
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

  test("no more take the path than the maps hold, until some of them rest", async () => {
    const { plane, keeper } = setUp({ ...WEB.tracked, flags: LIBERAL });
    let link = 100;
    /** By other links each: one connection of all of them is enough then. */
    const propose = (count: number) => {
      plane.seen = Array.from({ length: count }, () => {
        const key = Buffer.from(WEB.asks.key);
        link += 1;
        key.writeUInt32LE(link, 0);
        return { ...WEB.asks, key };
      });
    };
    propose(MOST_AT_ONCE + 1);
    await keeper.admit();
    expect(keeper.size).toBe(MOST_AT_ONCE);
    while (keeper.size < MOST_TAKEN - 1) {
      propose(Math.min(MOST_AT_ONCE, MOST_TAKEN - 1 - keeper.size));
      await keeper.admit();
    }
    propose(3);
    await keeper.admit();
    expect([keeper.size, plane.taken().length]).toEqual([MOST_TAKEN, MOST_TAKEN]);
    propose(1);
    await keeper.admit();
    expect(plane.admitted).toHaveLength(MOST_TAKEN);
    await keeper.review();
    expect([keeper.size, plane.taken().length]).toEqual([0, 0]);
    propose(3);
    await keeper.admit();
    expect(keeper.size).toBe(3);
  });
});

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

  test("leaves it alone where there is no other direction, and nothing is said of it then", async () => {
    const { plane, table, keeper } = setUp(WEB.tracked);
    plane.give(WEB.asks, LONG_AGO);
    await keeper.review();
    expect(plane.taken()).toEqual([]);
    expect(table.changes).toEqual([]);
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
    plane.seen = [WEB.asks];
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
  await keeper.recover();
  expect(table.changes).toEqual(left.map(lasting));
});
