import { createSocket } from "node:dgram";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../support/requires.ts";
import { configOf, LOCAL, TCP_CHECK } from "./proxy-config.ts";
import { ask, dial, echo, readAll, startServer, TestEngine } from "./proxy-fixture.ts";
import { CLIENTS, startLoad } from "./proxy-load.ts";

/** Threads that run the sources start slowly. */
const PATIENT = { timeout: 20_000 };

/** The names of the loops of each group. */
async function loopsOf({ engine }: TestEngine): Promise<Record<string, readonly string[]>> {
  const groups = await engine.loops.list();
  return Object.fromEntries(groups.map(({ name, loops }) => [name, loops.map((l) => l.name)]));
}

/** How many channels of a kind each group has. */
async function channelsOf(
  { engine }: TestEngine,
  kind: "listener" | "connection",
): Promise<Record<string, number>> {
  const groups = await engine.loops.list();
  const sum = (loops: (typeof groups)[number]["loops"]): number =>
    loops.reduce((total, { channels }) => total + channels[kind], 0);
  return Object.fromEntries(groups.map(({ name, loops }) => [name, sum(loops)]));
}

describe("loops of a running engine", requires("linux"), () => {
  test("come and go under load, and every connection is served", async () => {
    const { port } = await startServer(echo);
    const proxy = await TestEngine.start();
    await proxy.engine.apply(configOf([port], { group: { method: "least-connections" } }));
    const load = startLoad(proxy.port());
    for (let round = 0; round < 3; round += 1) {
      const [before = []] = Object.values(await loopsOf(proxy));
      const added = await proxy.engine.loops.add();
      await proxy.engine.loops.remove(before[0] ?? "");
      expect(await loopsOf(proxy)).toEqual({ worker: [added] });
      const served = load.served();
      await proxy.until(() => load.served() > served + CLIENTS);
    }
    const served = load.served();
    expect(await load.stop()).toEqual([]);
    await proxy.until(({ listeners }) => listeners[0]?.connections === 0);
    // What loops counted that are gone by now stays counted.
    const stats = proxy.engine.stats();
    expect(stats.listeners[0]?.totalConnections).toBeGreaterThanOrEqual(served);
    expect(stats.loops.map(({ name }) => name)).toEqual(["worker-4"]);
  });

  test("a loop that is removed finishes what it has", async () => {
    const { port } = await startServer(echo);
    const proxy = await TestEngine.start();
    await proxy.engine.apply(configOf([port]));
    const client = await dial(proxy.port());
    await proxy.until(({ groups }) => groups[0]?.connections === 1);
    await proxy.engine.loops.add();
    const removed = proxy.engine.loops.remove("worker-1");
    await expect.poll(() => loopsOf(proxy), PATIENT).toEqual({ worker: ["worker-2"] });
    expect(await ask(proxy.port(), "the new one")).toBe("the new one");
    client.end("the old one");
    expect((await readAll(client)).toString()).toBe("the old one");
    await removed;
    expect(proxy.engine.stats().loops.map(({ name }) => name)).toEqual(["worker-2"]);
  });

  test("servers are checked on, whichever loop goes", async () => {
    const { port, stop } = await startServer(echo);
    const proxy = await TestEngine.start({ loops: 2 });
    await proxy.engine.apply(configOf([port], { group: { healthCheck: TCP_CHECK } }));
    await proxy.logged("a server is up");
    await proxy.engine.loops.remove("worker-1");
    await stop();
    await proxy.logged("a server is down");
    await startServer(echo, port);
    await proxy.logged("a server is up", 2);
    expect(await ask(proxy.port(), "x")).toBe("x");
  });

  test("a listener accepts on one group and is served by another, and both may change", async () => {
    const { port } = await startServer(echo);
    const proxy = await TestEngine.start();
    const { loops } = proxy.engine;
    for (const group of ["front", "back"]) {
      await loops.addGroup(group);
      await loops.add(group);
    }
    await loops.add("back");
    const config = (acceptLoops: string, workLoops: string) =>
      configOf([port], { listener: { acceptLoops, workLoops } });
    await proxy.engine.apply(config("", ""));
    const load = startLoad(proxy.port());
    const steps = [
      { accept: "front", work: "back" },
      { accept: "worker", work: "back" },
      { accept: "back", work: "worker" },
      { accept: "", work: "front" },
      { accept: "front", work: "" },
      { accept: "", work: "" },
    ];
    for (const { accept, work } of steps) {
      await proxy.engine.apply(config(accept, work));
      const held = await dial(proxy.port());
      held.write("x");
      await new Promise((resolve) => held.once("data", resolve));
      const accepting = await channelsOf(proxy, "listener");
      expect(Object.keys(accepting).filter((name) => accepting[name] !== 0)).toEqual([
        accept || work || "worker",
      ]);
      held.end();
      await readAll(held);
      const served = load.served();
      await proxy.until(() => load.served() > served + CLIENTS);
    }
    expect(await load.stop()).toEqual([]);
    await proxy.until(({ listeners }) => listeners[0]?.connections === 0);
  });

  test("connections are handed to the loops that work, in turn", async () => {
    const { port } = await startServer(echo);
    const proxy = await TestEngine.start();
    const { loops } = proxy.engine;
    await loops.addGroup("back");
    await loops.add("back");
    await loops.add("back");
    const listener = { acceptLoops: "worker", workLoops: "back" };
    await proxy.engine.apply(configOf([port], { listener }));
    const clients = await Promise.all(Array.from({ length: 4 }, () => dial(proxy.port())));
    await proxy.until(({ groups }) => groups[0]?.connections === 4);
    // Two channels a connection: that of the client and that of the server.
    expect(await channelsOf(proxy, "connection")).toEqual({ worker: 0, back: 8 });
    const back = (await loops.list()).find(({ name }) => name === "back");
    expect(back?.loops.map(({ channels }) => channels.connection)).toEqual([4, 4]);
    for (const client of clients) client.end("x");
    await Promise.all(clients.map(readAll));
    // And one of the two goes while they are busy.
    const load = startLoad(proxy.port());
    await proxy.until(() => load.served() > CLIENTS);
    await loops.remove(back?.loops[0]?.name ?? "");
    const served = load.served();
    await proxy.until(() => load.served() > served + CLIENTS);
    expect(await load.stop()).toEqual([]);
  });

  test("a loop that dies takes its own connections with it, and no others", async () => {
    const { port } = await startServer(echo);
    const proxy = await TestEngine.start();
    const { loops } = proxy.engine;
    await loops.addGroup("back");
    await loops.add("back");
    const listener = { acceptLoops: "worker", workLoops: "back" };
    await proxy.engine.apply(configOf([port], { listener }));
    const client = await dial(proxy.port());
    await proxy.until(({ groups }) => groups[0]?.connections === 1);
    void proxy.workers[1]?.terminate();
    // A thread that blocks ends when it next wakes.
    client.write("x");
    await proxy.logged("an event loop died");
    await readAll(client).catch(() => undefined);
    expect(proxy.engine.stats().listeners[0]?.connections).toBe(0);
    await expect.poll(() => ask(proxy.port(), "again").catch(String), PATIENT).toBe("again");
    await expect
      .poll(() => loopsOf(proxy), PATIENT)
      .toEqual({ worker: ["worker-1"], back: ["back-3"] });
    expect(await ask(proxy.port(), "by its successor")).toBe("by its successor");
  });

  test("datagrams are answered whichever loop comes or goes", async () => {
    const server = createSocket("udp4").bind(0, LOCAL);
    await once(server, "listening");
    server.on("message", (text, from) => server.send(text, from.port, from.address));
    const client = createSocket("udp4");
    onTestFinished(() => {
      server.close();
      client.close();
    });
    const proxy = await TestEngine.start({ loops: 2 });
    const config = configOf([server.address().port], { listener: { mode: "udp" } });
    await proxy.engine.apply(config);
    const say = async (text: string): Promise<string> => {
      client.send(text, proxy.port(), LOCAL);
      return String((await once(client, "message"))[0]);
    };
    expect(await say("two loops")).toBe("two loops");
    const { loops } = proxy.engine;
    await loops.remove("worker-1");
    expect(await say("one loop")).toBe("one loop");
    // The sockets are the same: the loop that is left has both.
    expect(await channelsOf(proxy, "listener")).toEqual({ worker: 2 });
    await loops.add();
    expect(await say("two again")).toBe("two again");
    await loops.addGroup("datagrams");
    await loops.add("datagrams");
    const [listener] = config.listeners;
    if (listener === undefined) throw new Error("a configuration has a listener");
    await proxy.engine.apply({ ...config, listeners: [{ ...listener, workLoops: "datagrams" }] });
    expect(await channelsOf(proxy, "listener")).toEqual({ worker: 0, datagrams: 2 });
    expect(await say("elsewhere")).toBe("elsewhere");
  });

  test("a group that goes leaves its listeners to the default one, which is said", async () => {
    const { port } = await startServer(echo);
    const proxy = await TestEngine.start();
    const { loops } = proxy.engine;
    await loops.addGroup("extra");
    await proxy.engine.apply(configOf([port], { listener: { workLoops: "extra" } }));
    expect(proxy.engine.unmet()).toEqual([
      'web: loop group "extra" is not there, or has no loop; others are used',
    ]);
    await loops.add("extra");
    expect(proxy.engine.unmet()).toEqual([]);
    const load = startLoad(proxy.port());
    await proxy.until(() => load.served() > CLIENTS);
    await loops.removeGroup("extra");
    const served = load.served();
    await proxy.until(() => load.served() > served + CLIENTS);
    expect(await load.stop()).toEqual([]);
    expect(await loopsOf(proxy)).toEqual({ worker: ["worker-1"] });
    expect(proxy.engine.unmet()).toHaveLength(1);
  });

  test("a loop has the name that was wished for, also after it has died", async () => {
    const { port } = await startServer(echo);
    const proxy = await TestEngine.start();
    const { loops } = proxy.engine;
    await loops.addGroup("back");
    expect(await loops.add("back", "worker-3")).toBe("worker-3");
    await expect(loops.add("worker", "worker-3")).rejects.toMatchObject({
      code: "ERR_KEY_TAKEN",
      message: 'event loop "worker-3" is in group "back" already; choose another name',
    });
    const listener = { acceptLoops: "worker", workLoops: "back" };
    await proxy.engine.apply(configOf([port], { listener }));
    const client = await dial(proxy.port());
    await proxy.until(({ groups }) => groups[0]?.connections === 1);
    void proxy.workers[1]?.terminate();
    // A thread that blocks ends when it next wakes.
    client.write("x");
    await proxy.logged("an event loop died");
    await expect
      .poll(() => loopsOf(proxy), PATIENT)
      .toEqual({ worker: ["worker-1"], back: ["worker-3"] });
    // Those who accept hand over to its successor, by the same name.
    const held = await dial(proxy.port());
    held.write("y");
    expect(String((await once(held, "data"))[0])).toBe("y");
    const sessions = (await proxy.engine.channels.list()).filter(({ kind }) => kind === "session");
    expect(sessions.map(({ loop }) => loop)).toEqual(["worker-3"]);
  });

  test("a name is free again when the loop that had it has ended", async () => {
    const { port } = await startServer(echo);
    const proxy = await TestEngine.start();
    const { loops } = proxy.engine;
    await proxy.engine.apply(configOf([port]));
    const client = await dial(proxy.port());
    await proxy.until(({ groups }) => groups[0]?.connections === 1);
    await loops.add();
    const { ended } = await loops.retire("worker-1");
    await expect(loops.add("worker", "worker-1")).rejects.toThrow("is being ended still");
    client.end("x");
    await readAll(client);
    await ended;
    expect(await loops.add("worker", "worker-1")).toBe("worker-1");
    expect(await ask(proxy.port(), "served")).toBe("served");
  });

  test("what can not be is refused by name", async () => {
    const { loops } = (await TestEngine.start()).engine;
    await expect(loops.remove("worker-1")).rejects.toThrow("the last one of group");
    await expect(loops.remove("nobody")).rejects.toThrow('there are "worker-1"');
    await expect(loops.add("nowhere")).rejects.toThrow('loop group "nowhere" is not there');
    await expect(loops.addGroup("worker")).rejects.toThrow("is there already");
    await expect(loops.add("worker", "a b")).rejects.toThrow('event loop "a b": expected a letter');
    await expect(loops.addGroup("a b")).rejects.toThrow('loop group "a b": expected a letter');
    await expect(loops.removeGroup("worker")).rejects.toThrow("the default one, which stays");
    await expect(loops.removeGroup("nowhere")).rejects.toThrow('there are "worker"');
  });

  test("a loop can be looked into", async () => {
    const { loops } = (await TestEngine.start()).engine;
    const profile: unknown = JSON.parse(await loops.profile("worker-1", 20));
    expect(profile).toMatchObject({ nodes: expect.any(Array), samples: expect.any(Array) });
    await expect(loops.profile("nobody", 20)).rejects.toThrow('there are "worker-1"');
  });
});

test("with the provider node there is one loop, and more are refused with the remedy", async () => {
  const { loops } = (await TestEngine.start({ provider: "node" })).engine;
  await expect(loops.add()).rejects.toThrow('need the provider "posix"');
  expect(await loops.list()).toMatchObject([{ name: "worker", loops: [{ name: "main" }] }]);
  expect(JSON.parse(await loops.profile("main", 10))).toHaveProperty("nodes");
});
