import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { ipAddress, type SocketAddress } from "../../src/platform/socket-address.ts";
import type { EngineChannel } from "../../src/proxy/engine-channels.ts";
import { freePort } from "../support/named-server.ts";
import { requires } from "../support/requires.ts";
import { configOf, LOCAL, listenerOf } from "./proxy-config.ts";
import { dial, echo, readAll, startServer, TestEngine } from "./proxy-fixture.ts";
import { dialH2, h2Config, named, send, startH2, startHttp1 } from "./proxy-h2-fixture.ts";
import { Authority, dialTls, tlsConfigOf } from "./proxy-tls-fixture.ts";

const PROVIDERS = [
  { provider: "posix", loops: 1 },
  { provider: "node", loops: 1 },
] as const;

async function listed(
  { engine }: TestEngine,
  kind: EngineChannel["kind"],
): Promise<readonly EngineChannel[]> {
  return (await engine.channels.list()).filter((channel) => channel.kind === kind);
}

function portOf(address: SocketAddress | undefined): number {
  return address === undefined || address.family === "unix" ? 0 : address.port;
}

/** How a client is told that its connection is closed. */
async function cutOff(socket: { once(event: "close", done: () => void): unknown }): Promise<void> {
  await new Promise<void>((resolve) => void socket.once("close", resolve));
}

async function udpSocket(): Promise<UdpSocket> {
  const socket = createSocket("udp4").bind(0, LOCAL);
  await once(socket, "listening");
  onTestFinished(() => void socket.close());
  return socket;
}

describe.each(PROVIDERS)("what is open with $provider", requires("linux"), (options) => {
  test("a client and its server are two connections and a session, with what they moved", async () => {
    const { port } = await startServer(echo);
    const proxy = await TestEngine.start(options);
    await proxy.engine.apply(configOf([port]));
    const client = await dial(proxy.port());
    client.write("hello");
    await once(client, "data");
    const [session, ...others] = await listed(proxy, "session");
    expect(others).toEqual([]);
    expect(session).toMatchObject({
      loopGroup: "worker",
      listener: "web",
      server: String(port),
      local: ipAddress(LOCAL, proxy.port()),
      remote: ipAddress(LOCAL, client.localPort ?? 0),
      toServer: { remote: ipAddress(LOCAL, port) },
      bytesIn: 5,
      bytesOut: 5,
    });
    const connections = await listed(proxy, "connection");
    expect(
      connections.map(({ server, remote, listener }) => [server, portOf(remote), listener]),
    ).toEqual(
      expect.arrayContaining([
        ["", client.localPort, "web"],
        [String(port), port, "web"],
      ]),
    );
    expect(connections).toHaveLength(2);
    const sockets = await listed(proxy, "server-sock");
    expect(sockets).toHaveLength(options.loops);
    expect(sockets.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(1);
    expect(sockets.reduce((sum, { bytesIn }) => sum + bytesIn, 0)).toBe(5);
    expect(sockets[0]).toMatchObject({ listener: "web", local: { port: proxy.port() } });
  });

  test("either connection, or the session, can be closed, which closes all of it; once", async () => {
    const { port } = await startServer(echo);
    const proxy = await TestEngine.start(options);
    await proxy.engine.apply(configOf([port]));
    const { channels } = proxy.engine;
    const pick: readonly ((channel: EngineChannel) => boolean)[] = [
      ({ kind }) => kind === "session",
      ({ kind, server }) => kind === "connection" && server === "",
      ({ kind, server }) => kind === "connection" && server !== "",
    ];
    for (const isMeant of pick) {
      const client = await dial(proxy.port());
      client.write("x");
      await once(client, "data");
      const meant = (await channels.list()).find(isMeant);
      const closed = cutOff(client);
      expect(await channels.close(meant?.id ?? "")).toBe(true);
      await closed;
      expect(await channels.close(meant?.id ?? "")).toBe(false);
      expect(await listed(proxy, "connection")).toEqual([]);
      expect(await listed(proxy, "session")).toEqual([]);
    }
    await proxy.until(({ listeners }) => listeners[0]?.connections === 0);
    expect(await channels.close("nonsense")).toBe(false);
  });

  test("a listening socket goes with its listener only", async () => {
    const proxy = await TestEngine.start(options);
    await proxy.engine.apply(configOf([]));
    const [socket] = await listed(proxy, "server-sock");
    await expect(proxy.engine.channels.close(socket?.id ?? "")).rejects.toMatchObject({
      code: "ERR_IN_USE",
    });
  });

  test("many are listed whole", async () => {
    const { port } = await startServer(echo);
    const proxy = await TestEngine.start(options);
    await proxy.engine.apply(configOf([port]));
    const clients = Array.from({ length: 300 }, () => dial(proxy.port()));
    await Promise.all(clients);
    await proxy.until(({ groups }) => groups[0]?.connections === 300);
    const channels = await proxy.engine.channels.list();
    const ids = new Set(channels.map(({ id }) => id));
    expect(ids.size).toBe(300 * 3 + options.loops);
  });

  test("each client of datagrams is a session of its own", async () => {
    const server = await udpSocket();
    server.on("message", (bytes, from) => server.send(bytes, from.port, from.address));
    const proxy = await TestEngine.start(options);
    const address = ipAddress(LOCAL, await freePort());
    await proxy.engine.apply(
      configOf([server.address().port], { listener: { mode: "udp", address } }),
    );
    const clients = [await udpSocket(), await udpSocket()];
    const say = async (client: UdpSocket | undefined): Promise<void> => {
      client?.send("four", address.port, LOCAL);
      if (client !== undefined) await once(client, "message");
    };
    for (const client of clients) await say(client);
    const sessions = await listed(proxy, "session");
    expect(sessions.map(({ remote }) => portOf(remote)).sort()).toEqual(
      clients.map((client) => client.address().port).sort(),
    );
    expect(sessions[0]).toMatchObject({
      listener: "web",
      server: String(server.address().port),
      local: address,
      toServer: { remote: ipAddress(LOCAL, server.address().port) },
      bytesIn: 4,
      bytesOut: 4,
    });
    for (const { id } of sessions) expect(await proxy.engine.channels.close(id)).toBe(true);
    expect(await listed(proxy, "session")).toEqual([]);
    await say(clients[0]);
    expect(await listed(proxy, "session")).toHaveLength(1);
    expect((await listed(proxy, "server-sock"))[0]).toMatchObject({ listener: "web" });
  });

  test("HTTP: a client between two requests has no server; the connection that waits has", async () => {
    const port = await startHttp1((message, response) => {
      message.resume();
      response.end("x");
    });
    const proxy = await TestEngine.start(options);
    await proxy.engine.apply(configOf([port], { listener: { mode: "http" } }));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const [response] = await once(
      request({ host: LOCAL, port: proxy.port(), agent }).end(),
      "response",
    );
    await once(response.resume(), "end");
    const [session] = await listed(proxy, "session");
    expect(session).toMatchObject({ listener: "web", server: "", toServer: undefined });
    const toServer = (await listed(proxy, "connection")).filter(({ server }) => server !== "");
    expect(toServer).toMatchObject([{ listener: "web", server: String(port) }]);
  });

  test("HTTP: one that waits for its answer is listed with its server", async () => {
    const port = await startHttp1(() => undefined);
    const proxy = await TestEngine.start(options);
    await proxy.engine.apply(configOf([port], { listener: { mode: "http" } }));
    const client = await dial(proxy.port());
    client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await proxy.until(({ groups }) => groups[0]?.connections === 1);
    const sessions = () => listed(proxy, "session");
    await expect.poll(sessions).toMatchObject([{ server: String(port), listener: "web" }]);
    const [session] = await sessions();
    const closed = cutOff(client);
    expect(await proxy.engine.channels.close(session?.id ?? "")).toBe(true);
    await closed;
  });

  test("HTTP/2: one session a client, one connection a server", async () => {
    const port = await startH2(named("x"));
    const proxy = await TestEngine.start(options);
    await proxy.engine.apply(h2Config([port]));
    const client = await dialH2(proxy.port());
    await send(client);
    expect(await listed(proxy, "session")).toMatchObject([{ listener: "web", server: "" }]);
    const connections = await listed(proxy, "connection");
    expect(connections.map(({ server, listener }) => [server, listener]).sort()).toEqual([
      ["", "web"],
      [String(port), "web"],
    ]);
    const closed = cutOff(client);
    await proxy.engine.channels.close((await listed(proxy, "session"))[0]?.id ?? "");
    await closed;
  });

  test("SOCKS5: clients and where they were led to", async () => {
    const { port } = await startServer(echo);
    const proxy = await TestEngine.start(options);
    await proxy.engine.apply(configOf([port], { listener: { mode: "socks5" } }));
    const client = await dial(proxy.port());
    const target = Buffer.from([5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, port >> 8, port & 0xff]);
    client.write(target);
    await proxy.until(({ groups }) => groups[0]?.connections === 1);
    const sessions = () => listed(proxy, "session");
    await expect.poll(sessions).toMatchObject([{ listener: "web", server: String(port) }]);
  });

  test("DNS: a client that asks over TCP, and both sockets", async () => {
    const proxy = await TestEngine.start(options);
    const address = ipAddress(LOCAL, await freePort());
    const dns = { hosts: new Map(), forwardTo: [], ttlSeconds: 5 };
    await proxy.engine.apply({
      ...configOf([]),
      listeners: [listenerOf({ mode: "dns", address, dns })],
    });
    const client = connect(address.port, LOCAL);
    client.on("error", () => undefined);
    onTestFinished(() => void client.destroy());
    await once(client, "connect");
    await expect
      .poll(() => listed(proxy, "session"))
      .toMatchObject([{ listener: "web", remote: { port: client.localPort } }]);
    const sockets = await listed(proxy, "server-sock");
    expect(sockets).toHaveLength(2 * options.loops);
    expect(new Set(sockets.map(({ listener }) => listener))).toEqual(new Set(["web"]));
  });
});

describe("what is open behind TLS", requires("linux"), () => {
  test("a client in its handshake, and after it", async () => {
    const { port } = await startServer(echo);
    const proxy = await TestEngine.start();
    const authority = await Authority.create();
    await proxy.engine.apply(tlsConfigOf([port], [await authority.issue(["a.example"])]));
    const silent = await dial(proxy.port());
    await expect
      .poll(() => listed(proxy, "session"))
      .toMatchObject([{ listener: "web", remote: { port: silent.localPort } }]);
    const [shaking] = await listed(proxy, "session");
    const closed = cutOff(silent);
    expect(await proxy.engine.channels.close(shaking?.id ?? "")).toBe(true);
    await closed;
    const client = await dialTls(proxy.port());
    client.write("hello");
    await once(client, "data");
    expect(await listed(proxy, "session")).toMatchObject([
      { listener: "web", server: String(port), bytesIn: 5, bytesOut: 5 },
    ]);
  });
});

describe("what is open in loops that come and go", requires("linux"), () => {
  test("a loop that is being ended is listed until it has", async () => {
    const { port } = await startServer(echo);
    const proxy = await TestEngine.start();
    await proxy.engine.apply(configOf([port]));
    const client = await dial(proxy.port());
    await proxy.until(({ groups }) => groups[0]?.connections === 1);
    await proxy.engine.loops.add();
    const { ended } = await proxy.engine.loops.retire("worker-1");
    const [session] = await listed(proxy, "session");
    expect(session).toMatchObject({ loop: "worker-1", loopGroup: "worker" });
    expect(proxy.engine.loops.groups()).toEqual([
      { name: "worker", loops: ["worker-2"], isDefault: true },
    ]);
    client.end("bye");
    expect((await readAll(client)).toString()).toBe("bye");
    await ended;
    expect(await proxy.engine.channels.close(session?.id ?? "")).toBe(false);
  });
});
