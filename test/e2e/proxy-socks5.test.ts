import { execFile } from "node:child_process";
import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { NO_HINTS } from "../../src/core/model/route-hints.ts";
import type { EngineConfig, ListenerConfig } from "../../src/proxy/engine-config.ts";
import {
  readSocks5Datagram,
  renderSocks5DatagramHeader,
} from "../../src/wire/socks5/socks5-datagram.ts";
import { requires } from "../support/requires.ts";
import { configOf, LOCAL } from "./proxy-config.ts";
import { dial, echo, readAll, startServer, TestEngine } from "./proxy-fixture.ts";

const run = promisify(execFile);
const USERS = [{ name: "ann", password: "s3cret:#" }];
const PROVIDERS = [
  { provider: "posix", loops: 2 },
  { provider: "node", loops: 1 },
] as const;

function socksConfig(ports: readonly number[], more: Partial<ListenerConfig> = {}): EngineConfig {
  const config = configOf(ports, { listener: { mode: "socks5", ...more } });
  const hints = { ...NO_HINTS, host: "echo.example" };
  const groups = [{ group: "web", weight: 1, hints }];
  return { ...config, upstreams: [{ key: "web", affinitySeconds: 0, groups }] };
}

async function startSocks(
  options: (typeof PROVIDERS)[number],
  config: EngineConfig,
): Promise<TestEngine> {
  const proxy = await TestEngine.start(options);
  await proxy.engine.apply(config);
  return proxy;
}

async function udpSocket(ip = LOCAL, port = 0): Promise<UdpSocket> {
  const socket = createSocket(ip.includes(":") ? "udp6" : "udp4");
  socket.bind(port, ip);
  await once(socket, "listening");
  onTestFinished(() => {
    socket.close();
  });
  return socket;
}

/** Answers each datagram with what it said. */
async function udpEcho(ip = LOCAL, port = 0): Promise<number> {
  const socket = await udpSocket(ip, port);
  socket.on("message", (bytes, from) => socket.send(bytes, from.port, from.address));
  return socket.address().port;
}

interface Association {
  readonly control: Socket;
  /** Where datagrams are taken. */
  readonly port: number;
}

const ASSOCIATE = Buffer.from("050100 05030001000000000000".replaceAll(" ", ""), "hex");

/** No password; granted, at an IPv4 address. */
const GRANTED = "050005000001";

/** The answer after the greeting's; waits for all of it. */
async function hear(socket: Socket, byteCount: number): Promise<Buffer> {
  let bytes: Buffer = Buffer.alloc(0);
  while (bytes.length < byteCount) bytes = Buffer.concat([bytes, (await once(socket, "data"))[0]]);
  return bytes;
}

async function associate(port: number): Promise<Association> {
  const control = await dial(port);
  control.write(ASSOCIATE);
  const answer = await hear(control, 12);
  expect(answer.subarray(0, 10).toString("hex")).toBe(`${GRANTED}7f000001`);
  return { control, port: answer.readUInt16BE(10) };
}

/** Sends through an association and waits for the answer. */
async function say(client: UdpSocket, to: number, header: Buffer, text: string): Promise<string> {
  const answered = once(client, "message");
  client.send(Buffer.concat([header, Buffer.from(text)]), to, LOCAL);
  const [bytes] = await answered;
  return readSocks5Datagram(bytes)?.payload.toString() ?? "not an answer";
}

function nameHeader(name: string, port: number): Buffer {
  const tail = Buffer.alloc(2);
  tail.writeUInt16BE(port);
  return Buffer.concat([Buffer.from([0, 0, 0, 3, name.length]), Buffer.from(name), tail]);
}

describe.each(PROVIDERS)("UDP ASSOCIATE with $provider", requires("linux"), (options) => {
  test("datagrams go to servers by address and by name, and come back", async () => {
    const echoPort = await udpEcho();
    const proxy = await startSocks(options, socksConfig([echoPort]));
    const { port } = await associate(proxy.port());
    const client = await udpSocket();
    const byAddress = renderSocks5DatagramHeader(LOCAL, echoPort);
    expect(await say(client, port, byAddress, "one")).toBe("one");
    expect(await say(client, port, nameHeader("echo.example", echoPort), "two")).toBe("two");
    expect(proxy.engine.stats().listeners[0]).toMatchObject({ bytesIn: 6, bytesOut: 6 });
  });

  test("others only where they are allowed, by IPv6 and by names that are looked up", async () => {
    const v4 = await udpEcho();
    // On the same port: a name may have addresses of either family first.
    const v6 = await udpEcho("::1", v4);
    const proxy = await startSocks(options, socksConfig([], { allowOthers: true }));
    const { port } = await associate(proxy.port());
    const client = await udpSocket();
    expect(await say(client, port, renderSocks5DatagramHeader("::1", v6), "six")).toBe("six");
    expect(await say(client, port, nameHeader("localhost", v4), "name")).toBe("name");
    const closed = await startSocks(options, socksConfig([v4]));
    const strict = await associate(closed.port());
    const other = await udpSocket();
    other.send(
      Buffer.concat([renderSocks5DatagramHeader("::1", v6), Buffer.from("no")]),
      strict.port,
      LOCAL,
    );
    await closed.until(({ listeners }) => (listeners[0]?.failures ?? 0) > 0);
    const own = renderSocks5DatagramHeader(LOCAL, v4);
    expect(await say(other, strict.port, own, "yes")).toBe("yes");
  });

  test("fragments and what is no datagram are dropped, and the rest goes on", async () => {
    const echoPort = await udpEcho();
    const proxy = await startSocks(options, socksConfig([echoPort]));
    const { port } = await associate(proxy.port());
    const client = await udpSocket();
    const header = renderSocks5DatagramHeader(LOCAL, echoPort);
    const fragment = Buffer.concat([header, Buffer.from("part")]);
    fragment[2] = 1;
    for (const noise of [fragment, Buffer.alloc(0), Buffer.from("noise")]) {
      client.send(noise, port, LOCAL);
    }
    expect(await say(client, port, header, "whole")).toBe("whole");
    expect(proxy.engine.stats().listeners[0]?.failures).toBe(3);
  });

  test("none goes to servers that are spoken to within TLS or a tunnel", async () => {
    const server = await udpSocket();
    server.on("message", () => expect.unreachable("it was sent in the clear"));
    const { port: to } = server.address();
    const config = socksConfig([to]);
    const groups = config.groups.map((group) => ({ ...group, transport: "kcp" as const }));
    const proxy = await startSocks(options, { ...config, groups });
    const { port } = await associate(proxy.port());
    const client = await udpSocket();
    for (const header of [renderSocks5DatagramHeader(LOCAL, to), nameHeader("echo.example", to)]) {
      client.send(Buffer.concat([header, Buffer.from("secret")]), port, LOCAL);
    }
    await proxy.until(({ listeners }) => listeners[0]?.failures === 2);
  });

  test("only the socket that began may send", async () => {
    const echoPort = await udpEcho();
    const proxy = await startSocks(options, socksConfig([echoPort]));
    const { port } = await associate(proxy.port());
    const [client, stranger] = [await udpSocket(), await udpSocket()];
    const header = renderSocks5DatagramHeader(LOCAL, echoPort);
    expect(await say(client, port, header, "mine")).toBe("mine");
    stranger.on("message", () => expect.unreachable("a stranger was answered"));
    stranger.send(Buffer.concat([header, Buffer.from("theirs")]), port, LOCAL);
    expect(await say(client, port, header, "again")).toBe("again");
    expect(proxy.engine.stats().listeners[0]?.bytesIn).toBe("mine".length + "again".length);
  });

  test("it ends with its connection", async () => {
    const echoPort = await udpEcho();
    const proxy = await startSocks(options, socksConfig([echoPort]));
    const { control, port } = await associate(proxy.port());
    const client = await udpSocket();
    const header = renderSocks5DatagramHeader(LOCAL, echoPort);
    await say(client, port, header, "x");
    expect(proxy.engine.stats()).toMatchObject({
      listeners: [{ connections: 1 }],
      groups: [{ connections: 1 }],
    });
    control.end();
    await proxy.until(
      ({ listeners, groups }) => listeners[0]?.connections === 0 && groups[0]?.connections === 0,
    );
  });

  test("it ends where nothing passes for a time", async () => {
    const proxy = await startSocks(options, socksConfig([], { idleTimeoutMs: 50 }));
    const { control } = await associate(proxy.port());
    await once(control, "end");
    await proxy.until(({ listeners }) => listeners[0]?.connections === 0);
  });

  test("more destinations than one association may have: the oldest makes room", async () => {
    const ports = await Promise.all(Array.from({ length: 70 }, () => udpEcho()));
    const proxy = await startSocks(options, socksConfig(ports));
    const { port } = await associate(proxy.port());
    const client = await udpSocket();
    for (const echoPort of [...ports, ...ports.slice(0, 3)]) {
      expect(await say(client, port, renderSocks5DatagramHeader(LOCAL, echoPort), "x")).toBe("x");
    }
    expect(proxy.engine.stats().groups[0]?.connections).toBe(64);
  });
});

describe("users", requires("linux"), () => {
  async function startWeb(): Promise<number> {
    const server = createServer((_request, response) => response.end("in"));
    server.listen(0, LOCAL);
    await once(server, "listening");
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const address = server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  const curl = async (port: number, user: string, url: string) => {
    const args = ["--silent", "--max-time", "5", "--socks5-hostname", `${LOCAL}:${port}`];
    const { stdout } = await run("curl", [...args, "--proxy-user", user, url]);
    return stdout;
  };

  test("one must give name and password, where any are asked for", requires("curl"), async () => {
    const web = await startWeb();
    const url = `http://${LOCAL}:${web}/`;
    const proxy = await TestEngine.start();
    await proxy.engine.apply(socksConfig([web], { users: USERS }));
    expect(await curl(proxy.port(), "ann:s3cret:#", url)).toBe("in");
    await expect(curl(proxy.port(), "ann:wrong", url)).rejects.toMatchObject({ code: 97 });
    await expect(curl(proxy.port(), "eve:s3cret:#", url)).rejects.toMatchObject({ code: 97 });
    await proxy.engine.apply(socksConfig([web], { users: [{ name: "ann", password: "new" }] }));
    await expect(curl(proxy.port(), "ann:s3cret:#", url)).rejects.toMatchObject({ code: 97 });
    expect(await curl(proxy.port(), "ann:new", url)).toBe("in");
  });

  test("who offers no password is told that none of its methods will do", async () => {
    const proxy = await TestEngine.start();
    await proxy.engine.apply(socksConfig([], { users: USERS }));
    const client = await dial(proxy.port());
    client.write(Buffer.from([5, 1, 0]));
    expect([...(await readAll(client))]).toEqual([5, 0xff]);
  });

  test("BIND is refused with the code for it", async () => {
    const proxy = await TestEngine.start();
    await proxy.engine.apply(socksConfig([]));
    const client = await dial(proxy.port());
    client.write(Buffer.from([5, 1, 0, 5, 2, 0, 1, 127, 0, 0, 1, 0, 80]));
    expect([...(await readAll(client)).subarray(0, 4)]).toEqual([5, 0, 5, 7]);
  });

  test("a server may speak first after a password, and both ways pass", async () => {
    const { port } = await startServer((socket) => {
      socket.write("220 ready ");
      echo(socket);
    });
    const proxy = await TestEngine.start();
    await proxy.engine.apply(socksConfig([port], { users: [{ name: "a", password: "b" }] }));
    const client = await dial(proxy.port());
    const wanted = [5, 1, 0, 1, 127, 0, 0, 1, port >> 8, port & 0xff];
    client.write(Buffer.from([5, 1, 2, 1, 1, 0x61, 1, 0x62, ...wanted]));
    const greeted = await hear(client, 14 + "220 ready ".length);
    expect(greeted.subarray(14).toString()).toBe("220 ready ");
    client.end("hello");
    expect((await readAll(client)).toString()).toBe("hello");
  });
});
