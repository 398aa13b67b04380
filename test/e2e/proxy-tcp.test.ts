import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { requires } from "../support/requires.ts";
import { configOf, LOCAL, serverOf, TCP_CHECK } from "./proxy-config.ts";
import { ask, dial, echo, greeter, readAll, startServer, TestEngine } from "./proxy-fixture.ts";
import { hearRaw } from "./raw-client.ts";

const BIG_BYTES = 12_000_000;

const PROVIDERS = [
  { provider: "posix", loops: 2 },
  { provider: "node", loops: 1 },
] as const;

/** Leaves no connection behind. */
async function isRefused(port: number): Promise<boolean> {
  try {
    const socket = await dial(port);
    socket.destroy();
    return false;
  } catch {
    return true;
  }
}

describe.each(PROVIDERS)("$provider", requires("linux"), (options) => {
  test("bytes pass both ways, and the end as the end", async () => {
    const { port } = await startServer(echo);
    const proxy = await TestEngine.start(options);
    await proxy.engine.apply(configOf([port]));
    const sent = Buffer.alloc(BIG_BYTES, "portolan");
    const client = await dial(proxy.port());
    client.end(sent);
    const got = await readAll(client);
    expect(got.equals(sent)).toBe(true);
    await proxy.until(({ listeners }) => listeners[0]?.connections === 0);
    expect(proxy.engine.stats().groups[0]).toMatchObject({
      totalConnections: 1,
      bytesIn: BIG_BYTES,
      bytesOut: BIG_BYTES,
      failures: 0,
    });
  });

  test("a client that has ended still gets the answer", async () => {
    const { port } = await startServer(async (socket) => {
      const question = await readAll(socket);
      socket.end(`you said ${question}`);
    });
    const proxy = await TestEngine.start(options);
    await proxy.engine.apply(configOf([port]));
    expect(await ask(proxy.port(), "hello")).toBe("you said hello");
  });

  test("a server that has ended still hears the client", async () => {
    const heard: Promise<Buffer>[] = [];
    const { port } = await startServer((socket) => {
      socket.end("bye");
      heard.push(readAll(socket));
    });
    const proxy = await TestEngine.start(options);
    await proxy.engine.apply(configOf([port]));
    const client = await dial(proxy.port());
    expect((await readAll(client)).toString()).toBe("bye");
    client.end("still here");
    expect((await heard[0])?.toString()).toBe("still here");
  });

  test("a server that resets is passed on as a reset", async () => {
    const { port } = await startServer((socket) => {
      socket.write("half of it");
      socket.on("data", () => socket.resetAndDestroy());
    });
    const proxy = await TestEngine.start(options);
    await proxy.engine.apply(configOf([port]));
    const client = await dial(proxy.port());
    const [said] = await once(client, "data");
    expect(String(said)).toBe("half of it");
    client.write("go on");
    await expect(readAll(client)).rejects.toThrow("ECONNRESET");
  });

  test("a client that resets is passed on as a reset", async () => {
    let tell: (error: Error) => void = () => undefined;
    const failed = new Promise<Error>((resolve) => {
      tell = resolve;
    });
    const { port } = await startServer((socket) => {
      socket.on("error", tell).resume();
    });
    const proxy = await TestEngine.start(options);
    await proxy.engine.apply(configOf([port]));
    const client = await dial(proxy.port());
    await proxy.until(({ groups }) => groups[0]?.connections === 1);
    client.resetAndDestroy();
    expect((await failed).message).toContain("ECONNRESET");
  });

  test("a server that refuses is passed by", async () => {
    const gone = await startServer(echo);
    await gone.stop();
    const { port } = await startServer(greeter("alive"));
    const proxy = await TestEngine.start(options);
    await proxy.engine.apply(configOf([gone.port, port]));
    for (let turn = 0; turn < 4; turn += 1) expect(await ask(proxy.port())).toBe("alive");
    const [group] = proxy.engine.stats().groups;
    expect(group?.servers[0]?.failures).toBeGreaterThan(0);
    expect(proxy.engine.stats().listeners[0]?.failures).toBe(0);
  });

  test("where no server is there, clients are reset", async () => {
    const gone = await startServer(echo);
    await gone.stop();
    const proxy = await TestEngine.start(options);
    await proxy.engine.apply(configOf([gone.port]));
    await expect(ask(proxy.port())).rejects.toThrow("ECONNRESET");
    expect(proxy.engine.stats().listeners[0]?.failures).toBe(1);
  });

  test("a session that is idle for too long is reset", async () => {
    const { port } = await startServer(echo);
    const proxy = await TestEngine.start(options);
    await proxy.engine.apply(configOf([port], { listener: { idleTimeoutMs: 50 } }));
    const client = await dial(proxy.port());
    await expect(readAll(client)).rejects.toThrow("ECONNRESET");
  });

  test("a client that never reads costs bounded memory, and gets all once it does", async () => {
    const { port } = await startServer((socket) => socket.end(Buffer.alloc(BIG_BYTES, 1)));
    const proxy = await TestEngine.start(options);
    await proxy.engine.apply(configOf([port]));
    const client = await dial(proxy.port());
    client.pause();
    let before = -1;
    // It stops by itself: nothing comes any more although the server has more.
    await proxy.until(({ listeners }) => (listeners[0]?.bytesOut ?? 0) > 0);
    for (let same = 0; same < 20; same += 1) {
      const now = proxy.engine.stats().listeners[0]?.bytesOut ?? 0;
      if (now !== before) same = 0;
      before = now;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(before).toBeLessThan(BIG_BYTES);
    const got = readAll(client);
    client.resume();
    expect((await got).length).toBe(BIG_BYTES);
  });
});

describe("posix", requires("linux"), () => {
  test.each([
    ["few", 10],
    ["many", 30_000],
  ])(
    "what a server says right before it resets is passed on before the reset: %s bytes",
    async (_, byteCount) => {
      const said = "x".repeat(byteCount);
      const { port } = await startServer((socket) => {
        socket.on("data", () => {
          socket.write(said);
          socket.resetAndDestroy();
        });
      });
      const proxy = await TestEngine.start({ loops: 2 });
      await proxy.engine.apply(configOf([port]));
      const { heard, over } = await hearRaw(proxy.port(), "go on");
      expect([heard.length, over]).toEqual([byteCount, "ECONNRESET"]);
    },
  );

  test("a server killed in mid-stream resets its clients, and only those", async () => {
    const killed = await startServer(echo);
    const kept = await startServer(echo);
    const proxy = await TestEngine.start();
    await proxy.engine.apply(configOf([killed.port, kept.port]));
    const clients = [await dial(proxy.port()), await dial(proxy.port())];
    for (const client of clients) client.write("x");
    await Promise.all(clients.map((client) => once(client, "data")));
    await killed.stop();
    const outcomes = await Promise.allSettled(
      clients.map(async (client) => {
        client.end("y");
        return (await readAll(client)).toString();
      }),
    );
    const answers = outcomes.map((one) => (one.status === "fulfilled" ? one.value : "failed"));
    expect(answers).toContain("y");
  });

  test("all servers down and back: clients are served again", async () => {
    const first = await startServer(greeter("first"));
    const proxy = await TestEngine.start({ loops: 2 });
    await proxy.engine.apply(configOf([first.port], { group: { healthCheck: TCP_CHECK } }));
    await proxy.logged("a server is up");
    expect(await ask(proxy.port())).toBe("first");
    await first.stop();
    await proxy.logged("a server is down");
    expect(proxy.engine.stats().groups[0]?.servers[0]).toMatchObject({
      health: "down",
      reason: "ECONNREFUSED",
    });
    await expect(ask(proxy.port())).rejects.toThrow("ECONNRESET");
    await startServer(greeter("again"), first.port);
    await proxy.logged("a server is up", 2);
    expect(await ask(proxy.port())).toBe("again");
  });

  test("1,000 connections at once", async () => {
    const { port } = await startServer(echo);
    const proxy = await TestEngine.start({ loops: 2 });
    // The server's queue is shorter than the crowd: some wait for a second.
    await proxy.engine.apply(configOf([port], { listener: { connectTimeoutMs: 20_000 } }));
    const clients = await Promise.all(Array.from({ length: 1000 }, () => dial(proxy.port())));
    await proxy.until(({ groups }) => groups[0]?.connections === 1000);
    const answers = await Promise.all(
      clients.map(async (client, index) => {
        client.end(`client ${index}`);
        return (await readAll(client)).toString();
      }),
    );
    expect(answers).toEqual(answers.map((_, index) => `client ${index}`));
    await proxy.until(({ listeners, groups }) => {
      return listeners[0]?.connections === 0 && groups[0]?.connections === 0;
    });
  });

  test("draining lets what is open end, and takes nothing new", async () => {
    const { port } = await startServer(echo);
    const proxy = await TestEngine.start({ loops: 2 });
    await proxy.engine.apply(configOf([port]));
    const listening = proxy.port();
    const client = await dial(listening);
    client.write("before");
    await once(client, "data");
    const drained = proxy.engine.drain();
    await expect.poll(() => isRefused(listening)).toBe(true);
    client.end("after");
    expect((await readAll(client)).toString()).toBe("after");
    await drained;
  });

  test("an address in use is named, and the rest runs", async () => {
    const { port } = await startServer(greeter("served"));
    const proxy = await TestEngine.start();
    const config = configOf([port]);
    const [listener] = config.listeners;
    if (listener === undefined) throw new Error("no listener");
    const taken = { ...listener, key: "taken", address: { ...listener.address, port } };
    await expect(proxy.engine.apply({ ...config, listeners: [listener, taken] })).rejects.toThrow(
      `${LOCAL}:${port}`,
    );
    expect(await ask(proxy.port())).toBe("served");
  });

  test("names are resolved", async () => {
    const { port } = await startServer(greeter("by name"));
    const proxy = await TestEngine.start();
    const servers = [serverOf(port, { host: "localhost" })];
    await proxy.engine.apply(configOf([], { group: { servers } }));
    expect(await ask(proxy.port())).toBe("by name");
  });
});
