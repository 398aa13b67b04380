import { expect, test } from "vitest";
import { ERRNO } from "../platform/errno.ts";
import { ipAddress } from "../platform/socket-address.ts";
import { FakeStream } from "./fake-stream.fixture.ts";
import { MemoryHosts } from "./memory/memory-host.ts";
import { MemoryProvider } from "./memory/memory-provider.ts";
import { SimulatedNetwork } from "./memory/simulated-network.ts";
import { type ReadyHandler, SelectorEventLoop } from "./selector-event-loop.ts";

const noHandler: ReadyHandler = { onReady: () => undefined, onRemoved: () => undefined };

function makeLoop(): {
  loop: SelectorEventLoop;
  network: SimulatedNetwork;
  provider: MemoryProvider;
  errors: unknown[];
} {
  const network = new SimulatedNetwork({ seed: 1 });
  const provider = new MemoryProvider(new MemoryHosts(network).add("a", ["10.0.0.1"]));
  const errors: unknown[] = [];
  const loop = new SelectorEventLoop({ provider, onError: (error) => errors.push(error) });
  loop.start();
  return { loop, network, provider, errors };
}

test("timers run at their time, in order, and periods again and again", () => {
  const { loop, network } = makeLoop();
  const ran: string[] = [];
  loop.delay(30, () => ran.push(`late at ${loop.nowMs}`));
  loop.delay(10, () => ran.push(`early at ${loop.nowMs}`));
  const period = loop.period(20, () => ran.push(`again at ${loop.nowMs}`));
  network.clock.advance(45);
  expect(ran).toEqual(["early at 10", "again at 20", "late at 30", "again at 40"]);
  period.cancel();
  network.clock.advance(100);
  expect(ran).toHaveLength(4);
});

test("a cancelled timer does not run, and cancelling what ran does nothing", () => {
  const { loop, network } = makeLoop();
  let ran = 0;
  const timer = loop.delay(10, () => {
    ran += 1;
  });
  timer.cancel();
  const second = loop.delay(10, () => {
    ran += 1;
  });
  network.clock.advance(20);
  second.cancel();
  expect(ran).toBe(1);
});

test("tasks run in the order they were queued; what a task queues runs in the next round", () => {
  const { loop, network } = makeLoop();
  const ran: string[] = [];
  loop.nextTick(() => {
    ran.push("one");
    loop.nextTick(() => ran.push(`three in round ${loop.counters.read().rounds}`));
    loop.runOnLoop(() => ran.push("at once"));
  });
  loop.nextTick(() => ran.push(`two in round ${loop.counters.read().rounds}`));
  network.clock.advance(0);
  expect(ran).toEqual(["one", "at once", "two in round 1", "three in round 2"]);
});

test("a task that queues itself for ever does not starve timers", () => {
  const { loop, network } = makeLoop();
  let rounds = 0;
  const again = (): void => {
    rounds += 1;
    if (rounds < 1000) loop.nextTick(again);
  };
  let isDue = false;
  loop.nextTick(again);
  loop.delay(0, () => {
    isDue = rounds < 1000;
  });
  network.clock.advance(1);
  expect(isDue).toBe(true);
});

test("what a callback throws is reported, and the loop goes on", () => {
  const { loop, network, errors } = makeLoop();
  const ran: string[] = [];
  loop.nextTick(() => {
    throw new Error("in a task");
  });
  loop.nextTick(() => ran.push("task"));
  loop.delay(1, () => {
    throw new Error("in a timer");
  });
  loop.delay(1, () => ran.push("timer"));
  network.clock.advance(2);
  expect(errors.map(String)).toEqual(["Error: in a task", "Error: in a timer"]);
  expect(ran).toEqual(["task", "timer"]);
  expect(loop.counters.read()).toMatchObject({ errors: 2, timers: 2, tasks: 2 });
});

test("what a handler throws is reported, and it is told of the next event", () => {
  const { loop, network, provider, errors } = makeLoop();
  const server = provider.listen(ipAddress("10.0.0.1", 80), { backlog: 10 });
  let told = 0;
  loop.add(server, {
    ...noHandler,
    onReady: () => {
      told += 1;
      server.accept();
      throw new Error("in a handler");
    },
  });
  provider.connect(ipAddress("10.0.0.1", 80));
  network.clock.advance(1);
  provider.connect(ipAddress("10.0.0.1", 80));
  network.clock.advance(1);
  expect(told).toBe(2);
  expect(errors).toHaveLength(2);
});

test("closing tells every handler, ends the timers and takes nothing more", () => {
  const { loop, network, provider } = makeLoop();
  const removed: string[] = [];
  for (const port of [80, 81]) {
    const server = provider.listen(ipAddress("10.0.0.1", port), { backlog: 10 });
    loop.add(server, { ...noHandler, onRemoved: () => void removed.push(`port ${port}`) });
  }
  loop.delay(10, () => removed.push("timer"));
  loop.close();
  loop.close();
  network.clock.advance(20);
  expect(removed).toEqual(["port 80", "port 81"]);
  expect(loop.isClosed).toBe(true);
  const late = provider.listen(ipAddress("10.0.0.1", 82), { backlog: 1 });
  expect(() => loop.add(late, noHandler)).toThrow("a loop that ended");
  expect(() => loop.start()).toThrow("a loop runs once; this one is closed");
});

test("lists what describes itself, and has one closed by its id only", () => {
  const { loop, provider } = makeLoop();
  const server = provider.listen(ipAddress("10.0.0.1", 80), { backlog: 10 });
  const dismissed: string[] = [];
  const id = loop.add(server, {
    ...noHandler,
    describe: () => ({ kind: "listener", local: server.localAddress(), bytesIn: 0, bytesOut: 0 }),
    dismiss: () => void dismissed.push("server"),
  });
  const hidden = loop.add(provider.connect(ipAddress("10.0.0.1", 80)), noHandler);
  const { slot, generation } = id;
  expect(loop.channels()).toMatchObject([{ id: { slot, generation }, kind: "listener" }]);
  expect(loop.dismiss({ slot, generation: generation + 1 })).toBe(false);
  expect(loop.dismiss(hidden)).toBe(false);
  expect(loop.dismiss({ slot, generation })).toBe(true);
  expect(dismissed).toEqual(["server"]);
  loop.remove(id);
  expect(loop.dismiss({ slot, generation })).toBe(false);
});

test("lists in parts what it has, each once", () => {
  const { loop } = makeLoop();
  const local = ipAddress("10.0.0.1", 80);
  const describe = () => ({ kind: "connection", local, bytesIn: 0, bytesOut: 0 }) as const;
  const ids = Array.from({ length: 7 }, () =>
    loop.add(new FakeStream({}), { ...noHandler, describe }),
  );
  const [, second] = ids;
  if (second !== undefined) loop.remove(second);
  const pages: number[][] = [];
  for (let next: number | undefined = 0; next !== undefined; ) {
    const page = loop.channelPage(next, 3);
    pages.push(page.entries.map(({ id }) => id.slot));
    next = page.next;
  }
  expect(pages).toEqual([[0, 2], [3, 4, 5], [6]]);
});

test("an FD that can not be watched is refused with the errno", () => {
  const { loop } = makeLoop();
  const fd = new FakeStream({ attach: -ERRNO.ENOSPC });
  expect(() => loop.add(fd, noHandler)).toThrow("ENOSPC");
  expect(loop.size).toBe(0);
});
