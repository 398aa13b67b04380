import { type ChildProcess, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { openListening } from "../../src/net/posix/open-socket.ts";
import { buildWithThreads } from "../../src/net/threads/build-program.fixture.ts";
import { close } from "../../src/platform/linux/io-calls.ts";
import { localAddressOf } from "../../src/platform/linux/socket-names.ts";
import { ipAddress } from "../../src/platform/socket-address.ts";
import { requires } from "../support/requires.ts";
import { configOf, LOCAL, NO_CHECK } from "./proxy-config.ts";
import { ask, dial, echo, greeter, readAll, startServer, TestEngine } from "./proxy-fixture.ts";

/** A server whose queue is full: whoever calls it waits. */
function deafPort(): number {
  const { descriptor } = openListening(ipAddress(LOCAL, 0), { backlog: 0, shared: false });
  const address = localAddressOf(descriptor);
  const port = address.family === "unix" ? 0 : address.port;
  const callers = Array.from({ length: 4 }, () =>
    connect({ port, host: LOCAL }).on("error", () => undefined),
  );
  onTestFinished(() => {
    for (const caller of callers) caller.destroy();
    close(descriptor);
  });
  return port;
}

/** An engine in a process that may have so many descriptors. */
async function startLimited(descriptors: number, server: number): Promise<number> {
  const script = buildWithThreads(
    fileURLToPath(new URL("./proxy-limited-engine.ts", import.meta.url)),
  );
  const child: ChildProcess = spawn(
    "sh",
    [
      "-c",
      `ulimit -n ${descriptors} && exec "$0" "$1" "$2"`,
      process.execPath,
      script,
      String(server),
    ],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  if (child.stdout === null) throw new Error("no output");
  const [line] = await once(createInterface(child.stdout), "line");
  return JSON.parse(String(line)).port;
}

describe("faults", requires("linux"), () => {
  test("a server that never answers is left after the connect time-out", async () => {
    const { port } = await startServer(greeter("alive"));
    const proxy = await TestEngine.start();
    await proxy.engine.apply(configOf([deafPort(), port], { listener: { connectTimeoutMs: 100 } }));
    for (let turn = 0; turn < 3; turn += 1) expect(await ask(proxy.port())).toBe("alive");
    expect(proxy.engine.stats().groups[0]?.servers[0]?.failures).toBeGreaterThan(0);
  });

  test("a client that begins a hint and never ends it does not hold a server", async () => {
    const { port } = await startServer(echo);
    const proxy = await TestEngine.start();
    const config = configOf([port]);
    const groups = [{ group: "web", weight: 1, hints: { host: "a.example", port: 0, path: "" } }];
    await proxy.engine.apply({
      ...config,
      upstreams: [{ key: "web", groups, affinitySeconds: 0 }],
    });
    const slow = await dial(proxy.port());
    slow.write("GET / HT");
    await proxy.until(({ listeners }) => listeners[0]?.connections === 1);
    expect(proxy.engine.stats().groups[0]?.connections).toBe(0);
    const quick = "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n";
    expect(await ask(proxy.port(), quick)).toBe(quick);
  });

  test("HTTP checks see what TCP checks do not", async () => {
    const answer = (status: string) => (socket: Parameters<typeof echo>[0]) => {
      socket.on("data", () => socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`));
    };
    const good = await startServer(answer("200 OK"));
    const bad = await startServer(answer("500 Oh no"));
    const proxy = await TestEngine.start({ loops: 2 });
    await proxy.engine.apply(
      configOf([good.port, bad.port], {
        group: { healthCheck: { ...NO_CHECK, protocol: "http" } },
      }),
    );
    await proxy.logged("a server is up");
    await proxy.logged("a server is down");
    expect(
      proxy.engine.stats().groups[0]?.servers.map(({ health, reason }) => [health, reason]),
    ).toEqual([
      ["up", ""],
      ["down", "status 500; expected 2xx"],
    ]);
  });

  test("tcpDelay: a server that hangs up at once is down", async () => {
    const holds = await startServer(() => undefined);
    const drops = await startServer((socket) => socket.end());
    const proxy = await TestEngine.start();
    await proxy.engine.apply(
      configOf([holds.port, drops.port], {
        group: { healthCheck: { ...NO_CHECK, protocol: "tcpDelay" } },
      }),
    );
    await proxy.logged("a server is up");
    await proxy.logged("a server is down");
    const health = proxy.engine.stats().groups[0]?.servers.map((server) => server.health);
    expect(health).toEqual(["up", "down"]);
  });

  test("a DNS check asks, and judges the answer", async () => {
    const rcodes = [0, 2];
    const ports = await Promise.all(
      rcodes.map(async (rcode) => {
        const socket = createSocket("udp4").bind(0, LOCAL);
        await once(socket, "listening");
        onTestFinished(() => {
          socket.close();
        });
        socket.on("message", (bytes, from) => {
          bytes.writeUInt16BE(0x8000 | rcode, 2);
          socket.send(bytes, from.port, from.address);
        });
        return socket.address().port;
      }),
    );
    const proxy = await TestEngine.start();
    const healthCheck = { ...NO_CHECK, protocol: "dns" } as const;
    await proxy.engine.apply(configOf(ports, { group: { healthCheck } }));
    await proxy.logged("a server is up");
    await proxy.logged("a server is down");
    const servers = proxy.engine.stats().groups[0]?.servers;
    expect(servers?.map(({ reason }) => reason)).toEqual(["", "DNS SERVFAIL"]);
  });

  test("a loop that dies is replaced, and knows all that the old one knew", async () => {
    const { port } = await startServer(echo);
    const gone = await startServer(echo);
    await gone.stop();
    const proxy = await TestEngine.start();
    await proxy.engine.apply(
      configOf([port, gone.port], { group: { healthCheck: { ...NO_CHECK, protocol: "tcp" } } }),
    );
    await proxy.logged("a server is up");
    const client = await dial(proxy.port());
    client.write("x");
    await once(client, "data");
    const listening = proxy.port();
    const ended = readAll(client).catch((error: Error) => error.message);
    void proxy.workers[0]?.terminate();
    // A thread that blocks ends when it next wakes.
    client.write("y");
    await proxy.logged("an event loop died");
    await ended;
    expect(proxy.engine.stats().listeners[0]?.connections).toBe(0);
    await expect.poll(() => ask(listening, "again").catch(String)).toBe("again");
    expect(proxy.workers.length).toBe(2);
    expect(proxy.engine.stats().groups[0]?.servers[0]?.health).toBe("up");
  });

  test("where descriptors are used up, accepting pauses and goes on", async () => {
    const { port } = await startServer(echo);
    const listening = await startLimited(160, port);
    const clients = await Promise.all(Array.from({ length: 200 }, () => dial(listening)));
    const answers = await Promise.all(
      clients.map(async (client) => {
        client.end("x");
        return (await readAll(client)).toString();
      }),
    );
    expect(answers.every((answer) => answer === "x")).toBe(true);
  });
});
