import { expect, test } from "vitest";
import { connectionOf } from "../platform/linux/fast-path/connections.fixture.ts";
import { FastWorldRig } from "./fast-world-rig.fixture.ts";

const ETH0 = { link: 2, name: "eth0", mtu: 1500 };
const WEB = connectionOf("v4");
const PERIODS_OF_A_SECOND = 10;
const LATELY = { untilNs: process.hrtime.bigint() + 3_600_000_000_000n };
const READY = "fast path ready: little is forwarded";
const ONLOOKER = "rules of others in chain forward of table inet fw";
const OBSTACLE = `packets would be missed by ${ONLOOKER}; --fast-path on has them pass all the same`;

async function setUp(onlooker?: string) {
  const rig = new FastWorldRig();
  rig.links = [ETH0];
  rig.onlooker = onlooker;
  rig.table.flows.push(WEB.tracked);
  const keeper = await rig.start("auto");
  /** Seconds in which the rules forward so much. */
  const forward = async (packets: number, seconds = 1): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) {
      rig.forwarded += packets;
      await rig.pass(PERIODS_OF_A_SECOND);
    }
  };
  /** Seconds in which so many take the path. */
  const pass = async (packets: number, seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) {
      rig.plane.passedCount += packets;
      await forward(0);
    }
  };
  // What was before tells nothing.
  await forward(0);
  const attached = () => [...rig.plane.attachedLinks].map(({ name }) => name);
  return { rig, keeper, forward, pass, attached };
}

test("a node that forwards little has no programs at its links", async () => {
  const { keeper, forward, attached, rig } = await setUp();
  await forward(999, 6);
  expect(attached()).toEqual([]);
  expect(keeper.summary()).toBe(READY);
  rig.onLinks();
  await rig.pass();
  expect(attached()).toEqual([]);
});

test("one that forwards much has them within a second, and the status says so", async () => {
  const { rig, keeper, forward, attached } = await setUp();
  await forward(1000);
  expect(attached()).toEqual(["eth0"]);
  expect(keeper.summary()).toBe("fast path on 1 link");
  expect(rig.told.at(-1)).toBe("fast path on 1 link");
});

test("they stay while packets take the path", async () => {
  const { forward, pass, attached } = await setUp();
  await forward(1000);
  await pass(100, 60);
  expect(attached()).toEqual(["eth0"]);
});

test("when it is quiet again, all go by the rules and the links have no programs", async () => {
  const { rig, keeper, forward, attached } = await setUp();
  await forward(1000);
  rig.plane.give(WEB.asks);
  rig.plane.give(WEB.answers);
  await forward(0, 10);
  expect(attached()).toEqual([]);
  expect(rig.plane.taken()).toEqual([]);
  expect(keeper.summary()).toBe(READY);
  await forward(1000);
  expect(attached()).toEqual(["eth0"]);
});

test("nobody is let onto a path that is closed, nor by what was proposed before it opened", async () => {
  const { rig, forward, attached } = await setUp();
  rig.plane.seen = [WEB.asks, WEB.answers];
  await rig.pass(5);
  expect(rig.plane.admitted).toEqual([]);
  await forward(1000);
  await rig.pass();
  expect(attached()).toEqual(["eth0"]);
  expect(rig.plane.admitted).toEqual([]);
});

test("who takes it when it closes is let last, and the programs go although the kernel does not answer", async () => {
  for (const failure of [undefined, new Error("no answer")]) {
    const { rig, forward, pass, attached } = await setUp();
    await forward(5000);
    rig.onlooker = ONLOOKER;
    await pass(5000, 27);
    // Not since long: who rests would go by itself.
    rig.plane.give(WEB.asks, LATELY);
    rig.plane.give(WEB.answers, LATELY);
    if (failure !== undefined) rig.table.hold = Promise.reject(failure);
    await pass(5000, 1);
    expect(attached()).toEqual([]);
    expect(rig.plane.taken()).toEqual([]);
    if (failure === undefined) expect(rig.table.changes.at(-1)).toMatchObject({ set: 0 });
    else expect(rig.lines.at(-1)).toBe("warn: fast path: connections can not be looked at");
  }
});

test("where little of what is forwarded can take it, that is what the status says", async () => {
  const { keeper, forward, attached } = await setUp();
  await forward(5000, 11);
  expect(attached()).toEqual([]);
  expect(keeper.summary()).toBe(
    "fast path ready: what is forwarded could not take it, and is tried again every five minutes",
  );
});

test("where flows are accounted for it stays closed", async () => {
  const rig = new FastWorldRig();
  rig.sysctls.set("net.netfilter.nf_conntrack_acct", "1");
  const keeper = await rig.start("auto");
  expect(keeper.summary()).toContain("the accounting of tracked flows");
  expect(rig.askedForOnlookers).toBe(0);
});

test("where rules of others would miss packets it stays closed, which is told once with the remedy", async () => {
  const { rig, keeper, forward, attached } = await setUp(ONLOOKER);
  expect(rig.lines).toEqual([`info: fast path: all packets go by the rules: ${OBSTACLE}`]);
  await forward(5000, 90);
  expect(attached()).toEqual([]);
  expect(keeper.summary()).toBe(`no fast path: ${OBSTACLE}`);
  expect(rig.lines).toHaveLength(1);
});

test("rules of others that come close it within half a minute, and open it when they go", async () => {
  const { rig, keeper, forward, pass, attached } = await setUp();
  await forward(5000);
  expect(attached()).toEqual(["eth0"]);
  rig.onlooker = ONLOOKER;
  rig.plane.give(WEB.asks);
  rig.plane.give(WEB.answers);
  await pass(5000, 30);
  expect(attached()).toEqual([]);
  expect(rig.plane.taken()).toEqual([]);
  expect(keeper.summary()).toBe(`no fast path: ${OBSTACLE}`);
  expect(rig.told.at(-1)).toBe(`no fast path: ${OBSTACLE}`);
  expect(rig.lines).toEqual([`info: fast path: all packets go by the rules: ${OBSTACLE}`]);
  rig.onlooker = undefined;
  await forward(5000, 32);
  expect(attached()).toEqual(["eth0"]);
  expect(rig.lines.at(-1)).toBe("info: fast path: nobody would miss packets any more");
});

test("a node at rest is not searched for rules of others again and again", async () => {
  const { rig, forward, pass } = await setUp();
  await forward(10, 100);
  expect(rig.askedForOnlookers).toBe(1);
  await forward(1000);
  await pass(1000, 59);
  expect(rig.askedForOnlookers).toBe(4);
});

test("who asks for it has it at once, whatever is forwarded and whoever looks on", async () => {
  const rig = new FastWorldRig();
  rig.links = [ETH0];
  rig.onlooker = ONLOOKER;
  const keeper = await rig.start("on");
  await rig.pass(40 * PERIODS_OF_A_SECOND);
  expect(keeper.summary()).toBe("fast path on 1 link");
  expect(rig.askedForOnlookers).toBe(0);
});

test("where nobody can tell whose rules there are it stays closed", async () => {
  const rig = new FastWorldRig();
  rig.links = [ETH0];
  rig.onlookersFailure = "listing chains: not permitted";
  const keeper = await rig.start("auto");
  expect(keeper.summary()).toBe(
    "no fast path: whether packets would be missed is not known: listing chains: not permitted; --fast-path on has them pass all the same",
  );
});

test("what counts packets is closed in the end", async () => {
  const { rig, keeper } = await setUp();
  await keeper.close();
  expect(rig.isForwardedClosed).toBe(true);
});
