import { once } from "node:events";
import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { NO_HINTS } from "../../src/core/model/route-hints.ts";
import { requires } from "../support/requires.ts";
import { configOf, groupOf, listenerOf, serverOf, TCP_CHECK } from "./proxy-config.ts";
import { ask, dial, echo, greeter, readAll, startServer, TestEngine } from "./proxy-fixture.ts";
import { CLIENTS, startLoad } from "./proxy-load.ts";

const PROVIDERS = [
  { provider: "posix", loops: 2 },
  { provider: "node", loops: 1 },
] as const;

/** Says more than any buffer on the way holds, for as long as it is read. */
const talker = (socket: Socket): void => {
  const chunk = Buffer.alloc(65_536, "x");
  const talk = (): void => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on("drain", talk);
  talk();
};

describe.each(PROVIDERS)("faults, $provider", requires("linux"), (options) => {
  test("a server killed in mid-stream ends its own clients, and those of others hear nothing of it", async () => {
    const killed = await startServer(talker);
    const kept = await startServer(echo);
    const proxy = await TestEngine.start({ ...options, loops: 1 });
    await proxy.engine.apply(configOf([killed.port, kept.port]));
    const clients = [await dial(proxy.port()), await dial(proxy.port())];
    for (const client of clients) client.write("x");
    const heard = await Promise.all(clients.map((client) => once(client, "data")));
    const isEcho = heard.map(([bytes]) => String(bytes) === "x");
    expect([...isEcho].sort()).toEqual([false, true]);
    const [victim, other] = isEcho[0] === true ? [clients[1], clients[0]] : clients;
    // With a FIN or a reset, as the system of the killed one has it.
    const gone = victim && readAll(victim).catch(() => undefined);
    await killed.stop();
    await gone;
    victim?.destroy();
    other?.end("y");
    expect(other && (await readAll(other)).toString()).toBe("y");
    await proxy.until(({ listeners }) => listeners[0]?.connections === 0);
  });

  test("a server that accepts and never answers is cut when nothing moves, and holds up nobody else", async () => {
    const silent = await startServer(() => undefined);
    const { port } = await startServer(greeter("alive"));
    const proxy = await TestEngine.start({ ...options, loops: 1 });
    const config = configOf([silent.port, port], { listener: { idleTimeoutMs: 500 } });
    await proxy.engine.apply(config);
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, () => ask(proxy.port(), "hello?").catch(() => "cut")),
    );
    expect(outcomes.sort()).toEqual(["alive", "alive", "alive", "cut", "cut", "cut"]);
    await proxy.until(({ listeners }) => listeners[0]?.connections === 0);
  });

  test("all servers down and back: clients are served again", async () => {
    const first = await startServer(greeter("first"));
    const proxy = await TestEngine.start(options);
    await proxy.engine.apply(configOf([first.port], { group: { healthCheck: TCP_CHECK } }));
    await proxy.logged("a server is up");
    expect(await ask(proxy.port())).toBe("first");
    await first.stop();
    await proxy.logged("a server is down");
    await expect(ask(proxy.port())).rejects.toThrow("ECONNRESET");
    await startServer(greeter("again"), first.port);
    await proxy.logged("a server is up", 2);
    expect(await ask(proxy.port())).toBe("again");
  });

  test("clients that dribble their requests are cut, and others served meanwhile", async () => {
    const { port } = await startServer((socket) => {
      socket.on("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
    });
    const proxy = await TestEngine.start(options);
    await proxy.engine.apply(configOf([port], { listener: { mode: "http" } }));
    const slow = await Promise.all(Array.from({ length: 20 }, () => dial(proxy.port())));
    const said = slow.map((client) => readAll(client).catch(() => Buffer.alloc(0)));
    for (const client of slow) client.write("GET / HTTP/1.1\r\nX: ");
    const dribbling = setInterval(() => {
      for (const client of slow) client.write("y");
    }, 500);
    try {
      await proxy.until(({ listeners }) => listeners[0]?.connections === slow.length);
      expect(proxy.engine.stats().groups[0]?.connections).toBe(0);
      const quick = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
      expect(await ask(proxy.port(), quick)).toContain("200 OK");
      const answers = (await Promise.all(said)).map(String);
      expect(answers.every((answer) => answer.startsWith("HTTP/1.1 408 "))).toBe(true);
    } finally {
      clearInterval(dribbling);
    }
    await proxy.until(({ listeners }) => listeners[0]?.connections === 0);
  });

  test("a client that never reads holds up its own server only", async () => {
    const big = await startServer(talker);
    const { port } = await startServer(echo);
    const proxy = await TestEngine.start(options);
    const hinted = (host: string) => ({ group: host, weight: 1, hints: { ...NO_HINTS, host } });
    const base = configOf([]);
    await proxy.engine.apply({
      ...base,
      listeners: [
        listenerOf({ key: "big", upstream: "big" }),
        listenerOf({ key: "small", upstream: "small" }),
      ],
      upstreams: ["big", "small"].map((key) => ({
        key,
        groups: [hinted(key)],
        affinitySeconds: 0,
      })),
      groups: [
        groupOf([serverOf(big.port)], { key: "big" }),
        groupOf([serverOf(port)], { key: "small" }),
      ],
    });
    const deaf = await dial(proxy.port("big"));
    deaf.pause();
    const load = startLoad(proxy.port("small"));
    await proxy.until(() => load.served() > 4 * CLIENTS);
    const held = proxy.engine.stats().listeners.find(({ key }) => key === "big");
    expect(await load.stop()).toEqual([]);
    // What the kernel's buffers of two sockets hold, and ours: not what the server would say.
    expect(held?.bytesOut).toBeLessThan(50_000_000);
    expect(held?.connections).toBe(1);
    deaf.destroy();
  });

  test("what is removed under load harms nobody who did not use it", async () => {
    const servers = await Promise.all([startServer(echo), startServer(echo), startServer(echo)]);
    const [a, b, c] = servers.map(({ port }) => serverOf(port));
    if (a === undefined || b === undefined || c === undefined) throw new Error("no servers");
    const proxy = await TestEngine.start(options);
    const base = configOf([]);
    const [web] = base.upstreams;
    if (web === undefined) throw new Error("no upstream");
    const other = {
      ...web,
      key: "other",
      groups: web.groups.map((attached) => ({ ...attached, group: "other" })),
    };
    const full = {
      ...base,
      listeners: [listenerOf(), listenerOf({ key: "other", upstream: "other" })],
      upstreams: [web, other],
      groups: [groupOf([a, b]), groupOf([c], { key: "other" })],
    };
    await proxy.engine.apply(full);
    const load = startLoad(proxy.port());
    const elsewhere = await dial(proxy.port("other"));
    const pass = async (): Promise<void> => {
      const served = load.served();
      await proxy.until(() => load.served() > served + CLIENTS);
    };
    await pass();
    // A server that some of them use: its connections go on.
    await proxy.engine.apply({ ...full, groups: [groupOf([a]), groupOf([c], { key: "other" })] });
    await pass();
    // The other listener, and then its group.
    await proxy.engine.apply({ ...full, listeners: [listenerOf()] });
    await pass();
    await proxy.engine.apply({ ...full, listeners: [listenerOf()], groups: [groupOf([a])] });
    await pass();
    if (options.provider === "posix") {
      await proxy.engine.loops.remove("worker-1");
      await pass();
    }
    expect(await load.stop()).toEqual([]);
    elsewhere.destroy();
  });
});
