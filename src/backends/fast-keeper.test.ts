import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { CoreError } from "../core/errors.ts";
import { connectionOf } from "../platform/linux/fast-path/connections.fixture.ts";
import { TCP_FLAG } from "../wire/netlink/conntrack/tcp-flow.ts";
import type { FastKeeper } from "./fast-keeper.ts";
import { FastWorldRig } from "./fast-world-rig.fixture.ts";

const ETH0 = { link: 2, name: "eth0", mtu: 1500 };
const ETH1 = { link: 3, name: "eth1", mtu: 9000 };
const WEB = connectionOf("v4");
const PERIODS_TO_REVIEW = 50;
/** Of enum tcp_conntrack. */
const FIN_WAIT = 4;
const WARNING = "warn: fast path: connections can not be looked at";

/** With a connection that the kernel tracks, at one link. */
async function setUp(links = [ETH0]) {
  const rig = new FastWorldRig();
  rig.links = links;
  rig.table.flows.push(WEB.tracked);
  const keeper = await rig.start();
  const { plane, table, lines, told } = rig;
  return { rig, keeper, plane, table, lines, told };
}

/** What waits for it, until it is opened. */
function gate() {
  let open = (): void => undefined;
  const closed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { closed, open };
}

const valuesOf = (keeper: FastKeeper) =>
  Object.fromEntries(keeper.metrics().map(({ name, samples }) => [name, samples[0]?.value]));
const namesOf = (links: Iterable<{ readonly name: string }>) => [...links].map(({ name }) => name);

test("off opens nothing", async () => {
  const rig = new FastWorldRig();
  const keeper = await rig.start("off");
  await rig.pass(PERIODS_TO_REVIEW);
  await keeper.close();
  expect(rig.opened).toEqual([]);
  expect(rig.periodMs).toBe(0);
  expect(rig.lines).toEqual([]);
  expect(keeper.metrics()).toEqual([]);
  expect(keeper.summary()).toBe("fast path off");
});

test("where it is not possible that is told, and all go by the rules", async () => {
  const rig = new FastWorldRig();
  rig.isPossible = false;
  const keeper = await rig.start("auto");
  expect(rig.opened).toEqual(["plane"]);
  expect(keeper.summary()).toBe("no fast path: an old kernel; boot a new one");
  expect(rig.lines).toEqual([
    "info: fast path: all packets go by the rules: an old kernel; boot a new one",
  ]);
  expect(valuesOf(keeper)).toEqual({ fast_path_flows: 0, fast_path_packets_total: 0 });
  await keeper.close();
});

test("where it has to be possible, a start is refused with the remedy", async () => {
  const rig = new FastWorldRig();
  rig.isPossible = false;
  const refused = rig.start("on");
  await expect(refused).rejects.toBeInstanceOf(CoreError);
  await expect(refused).rejects.toMatchObject({
    code: "ERR_NOT_POSSIBLE_HERE",
    message: "--fast-path on: an old kernel; boot a new one",
  });
  expect(rig.lines).toEqual([]);
});

test("where it has to be possible and is, it begins as ever", async () => {
  const rig = new FastWorldRig();
  rig.links = [ETH0];
  const keeper = await rig.start("on");
  expect(keeper.summary()).toBe("fast path on 1 link");
  expect(rig.periodMs).toBe(100);
  await keeper.close();
});

test("links are attached at the start and when they change, and the status says so", async () => {
  const { rig, keeper, plane, told } = await setUp();
  expect(namesOf(plane.attachedLinks)).toEqual(["eth0"]);
  expect(keeper.summary()).toBe("fast path on 1 link");
  told.splice(0);
  rig.links = [ETH0, ETH1];
  rig.onLinks();
  await rig.pass();
  expect(namesOf(plane.attachedLinks)).toEqual(["eth0", "eth1"]);
  expect(told).toEqual(["fast path on 2 links"]);
  rig.onLinks();
  await rig.pass();
  expect(told).toHaveLength(1);
  plane.sharedLinks.add("eth0");
  rig.links = [ETH0];
  rig.onLinks();
  await rig.pass();
  expect(namesOf(plane.attachedLinks)).toEqual([]);
  expect(told).toEqual(["fast path on 2 links", "fast path on 0 links"]);
  expect(keeper.summary()).toBe("fast path on 0 links");
});

test("each period lets those take the path that were proposed", async () => {
  const { rig, keeper, plane, table } = await setUp();
  plane.seen = [WEB.asks];
  await rig.pass();
  expect(plane.admitted).toEqual([]);
  plane.seen = [WEB.answers];
  await rig.pass();
  expect(plane.admitted).toEqual([WEB.answers, WEB.asks]);
  expect(table.changes).toHaveLength(1);
  plane.passedCount = 7;
  expect(valuesOf(keeper)).toEqual({ fast_path_flows: 2, fast_path_packets_total: 7 });
});

test("each fiftieth period looks at links, and at connections that rest", async () => {
  const { rig, plane, table } = await setUp();
  rig.sysctls.set("net.netfilter.nf_conntrack_tcp_timeout_established", "1234");
  for (const links of [[ETH0, ETH1], [ETH1]]) {
    const before = namesOf(plane.attachedLinks);
    rig.links = links;
    plane.give(WEB.asks);
    plane.give(WEB.answers);
    await rig.pass(PERIODS_TO_REVIEW - 1);
    expect(namesOf(plane.attachedLinks)).toEqual(before);
    expect(plane.taken()).toHaveLength(2);
    await rig.pass();
    expect(namesOf(plane.attachedLinks)).toEqual(namesOf(links));
    expect(plane.taken()).toEqual([]);
  }
  expect(table.changes.map(({ timeoutS }) => timeoutS)).toEqual([1234, 1234]);
});

test("connections of a process that ended are let last, as long as the kernel says by default", async () => {
  const rig = new FastWorldRig();
  const { beLiberal } = TCP_FLAG;
  rig.table.flows.push({ ...WEB.tracked, flags: { original: beLiberal, reply: beLiberal } });
  await rig.start();
  expect(rig.table.flows[0]?.timeoutS).toBe(432_000);
  expect(rig.lines).toEqual(["info: fast path: connections of before go on"]);
});

test("of connections of a process that ended, those that are closing are not said to go on", async () => {
  const rig = new FastWorldRig();
  const { beLiberal } = TCP_FLAG;
  const flags = { original: beLiberal, reply: beLiberal };
  rig.table.flows.push({ ...WEB.tracked, flags, state: FIN_WAIT });
  await rig.start();
  expect([rig.table.changes, rig.lines]).toEqual([[], []]);
});

test("a table that fails is told of once, and again when it worked in between", async () => {
  const { rig, plane, table, lines } = await setUp();
  const pass = async (failure?: string) => {
    plane.seen = [WEB.asks, WEB.answers];
    table.failure = failure === undefined ? undefined : new Error(failure);
    await rig.pass();
    return lines.splice(0);
  };
  expect(await pass("no answer")).toEqual([WARNING]);
  expect(await pass("no answer")).toEqual([]);
  expect(plane.admitted).toEqual([]);
  expect(await pass()).toEqual([]);
  expect(plane.admitted).toEqual([WEB.answers, WEB.asks]);
  expect(await pass("no answer")).toEqual([WARNING]);
  expect(await pass("no room")).toEqual([WARNING]);
});

test("where the start fails to look at what is there, later periods work", async () => {
  const rig = new FastWorldRig();
  rig.links = [ETH0];
  rig.table.failure = new Error("no answer");
  const keeper = await rig.start();
  expect(rig.lines).toEqual([WARNING]);
  await rig.pass(PERIODS_TO_REVIEW);
  expect(keeper.summary()).toBe("fast path on 1 link");
});

test("closed, it dismisses before it detaches, which takes time, and lets connections last", async () => {
  const { rig, keeper, plane, table } = await setUp([ETH0, ETH1]);
  plane.seen = [WEB.asks, WEB.answers];
  await rig.pass();
  plane.passedCount = 9;
  plane.calls.splice(0);
  table.changes.splice(0);
  await keeper.close();
  expect(plane.calls).toEqual(["remove 2", "detach eth0", "detach eth1", "close"]);
  expect(table.changes).toMatchObject([{ tuple: WEB.tracked.original, timeoutS: 432_000 }]);
  expect([rig.isStopped, rig.areLinksClosed, table.isClosed]).toEqual([true, true, true]);
  expect(keeper.summary()).toBe("no fast path: closed");
  expect(valuesOf(keeper)).toEqual({ fast_path_flows: 0, fast_path_packets_total: 9 });

  await keeper.close();
  expect(plane.calls).toHaveLength(4);
  expect(valuesOf(keeper)).toEqual({ fast_path_flows: 0, fast_path_packets_total: 9 });
});

test("closed, it waits for a turn under way, and dismisses what that let in", async () => {
  const { rig, keeper, plane, table } = await setUp();
  const { closed, open } = gate();
  table.hold = closed;
  plane.seen = [WEB.asks, WEB.answers];
  const turn = rig.pass();
  await expect.poll(() => table.asked).toBe(1);
  let isClosed = false;
  const closing = keeper.close().then(() => {
    isClosed = true;
  });
  await setImmediate();
  expect([isClosed, plane.isClosed, table.isClosed]).toEqual([false, false, false]);
  open();
  await Promise.all([turn, closing]);
  expect(plane.admitted).toEqual([WEB.answers, WEB.asks]);
  expect(plane.taken()).toEqual([]);
  expect(plane.calls.slice(-3)).toEqual(["remove 2", "detach eth0", "close"]);
});

test("closed, it attaches nothing any more, and lets nobody take the path", async () => {
  const { rig, keeper, plane } = await setUp();
  const { closed, open } = gate();
  rig.holdLinks = closed;
  rig.links = [ETH0, ETH1];
  rig.onLinks();
  const turn = rig.pass();
  await expect.poll(() => rig.listed).toBe(2);
  const closing = keeper.close();
  open();
  await Promise.all([turn, closing]);
  plane.seen = [WEB.asks, WEB.answers];
  rig.onLinks();
  await rig.pass(PERIODS_TO_REVIEW);
  expect(namesOf(plane.attachedLinks)).toEqual([]);
  expect(plane.calls.filter((call) => call.startsWith("attach"))).toEqual(["attach eth0"]);
  expect(plane.admitted).toEqual([]);
  expect(plane.seen).toEqual([WEB.asks, WEB.answers]);
});

test("closed, it ends also where connections can not be let last", async () => {
  const { keeper, plane, table, lines } = await setUp();
  plane.give(WEB.asks);
  table.failure = new Error("no answer");
  await keeper.close();
  expect(lines).toEqual([WARNING]);
  expect([plane.isClosed, table.isClosed]).toEqual([true, true]);
});

test("nobody waits for links at the start", async () => {
  const rig = new FastWorldRig();
  const { closed, open } = gate();
  rig.links = [ETH0];
  rig.holdLinks = closed;
  const keeper = await rig.begin();
  expect(keeper.summary()).toBe("fast path on 0 links");
  open();
  await keeper.drain();
  expect(keeper.summary()).toBe("fast path on 1 link");
  expect(rig.told).toEqual(["fast path on 1 link"]);
});

test("where only a part of it can be opened, nothing is left open, and the rules serve", async () => {
  const rig = new FastWorldRig();
  rig.isWithoutNetlink = true;
  const keeper = await rig.start("auto");
  expect(keeper.summary()).toBe("no fast path: no netlink");
  expect(rig.plane.isClosed).toBe(true);
  await expect(rig.start("on")).rejects.toThrow("--fast-path on: no netlink");
});

test("where links can not be followed, all that was opened before is closed", async () => {
  const rig = new FastWorldRig();
  rig.isWithoutLinks = true;
  const keeper = await rig.start("auto");
  expect(keeper.summary()).toBe("no fast path: no links");
  expect([rig.plane.isClosed, rig.table.isClosed, rig.isForwardedClosed]).toEqual([
    true,
    true,
    true,
  ]);
});

test("connections of before are let last later where the kernel did not answer at the start", async () => {
  const { beLiberal } = TCP_FLAG;
  const rig = new FastWorldRig();
  rig.links = [ETH0];
  rig.table.flows.push({ ...WEB.tracked, flags: { original: beLiberal, reply: beLiberal } });
  rig.table.failure = new Error("no answer");
  await rig.start();
  expect(namesOf(rig.plane.attachedLinks)).toEqual(["eth0"]);
  expect(rig.table.changes).toEqual([]);
  await rig.pass(2 * PERIODS_TO_REVIEW);
  expect(rig.table.changes).toHaveLength(1);
});

test("periods in which nobody was asked do not count as a kernel that answers", async () => {
  const { rig, plane, table, lines } = await setUp();
  for (let time = 0; time < 3; time += 1) {
    plane.seen = [WEB.asks, WEB.answers];
    table.failure = new Error("no answer");
    await rig.pass(2);
  }
  expect(lines).toEqual([WARNING]);
});

test("a kernel that tells what it tracks counts as one that answers", async () => {
  const rig = new FastWorldRig();
  const fail = () => {
    rig.table.failure = new Error("no answer");
  };
  fail();
  await rig.start();
  await rig.pass(PERIODS_TO_REVIEW);
  rig.plane.seen = [WEB.asks, WEB.answers];
  fail();
  await rig.pass();
  expect(rig.lines).toEqual([WARNING, WARNING]);
});

test("the count of packets does not go back while it is closed", async () => {
  const { keeper, plane } = await setUp();
  plane.passedCount = 9;
  const closing = keeper.close();
  expect(valuesOf(keeper)["fast_path_packets_total"]).toBe(9);
  await closing;
  expect(valuesOf(keeper)["fast_path_packets_total"]).toBe(9);
});
