import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { ipAddress } from "../../src/platform/socket-address.ts";
import { requires } from "../support/requires.ts";
import { configOf, LOCAL } from "./proxy-config.ts";
import { TestEngine } from "./proxy-fixture.ts";

async function udpSocket(port = 0): Promise<Socket> {
  const socket = createSocket("udp4");
  socket.bind(port, LOCAL);
  await once(socket, "listening");
  onTestFinished(() => {
    socket.close();
  });
  return socket;
}

/** Answers with its name and what it was told. */
async function udpServer(name: string): Promise<number> {
  const socket = await udpSocket();
  socket.on("message", (bytes, from) => {
    socket.send(`${name} ${bytes}`, from.port, from.address);
  });
  return socket.address().port;
}

/** One that is free right now; an engine wants to be told. */
async function freePort(): Promise<number> {
  const socket = createSocket("udp4");
  socket.bind(0, LOCAL);
  await once(socket, "listening");
  const { port } = socket.address();
  socket.close();
  await once(socket, "close");
  return port;
}

async function say(client: Socket, port: number, text: string): Promise<string> {
  const answered = once(client, "message");
  client.send(text, port, LOCAL);
  const [bytes] = await answered;
  return String(bytes);
}

const PROVIDERS = [
  { provider: "posix", loops: 2 },
  { provider: "node", loops: 1 },
] as const;

describe.each(PROVIDERS)("$provider", requires("linux"), (options) => {
  test("no datagram goes to servers that are spoken to within TLS or a tunnel", async () => {
    const server = await udpSocket();
    server.on("message", () => expect.unreachable("it was sent in the clear"));
    const proxy = await TestEngine.start(options);
    const port = await freePort();
    await proxy.engine.apply(
      configOf([server.address().port], {
        listener: { mode: "udp", address: ipAddress(LOCAL, port) },
        group: { transport: "kcp" },
      }),
    );
    (await udpSocket()).send("secret", port, LOCAL);
    await proxy.until(({ listeners }) => listeners[0]?.failures === 1);
  });

  test("a client keeps its server as long as it keeps coming; others get other servers", async () => {
    const servers = [await udpServer("a"), await udpServer("b")];
    const proxy = await TestEngine.start(options);
    const port = await freePort();
    await proxy.engine.apply(
      configOf(servers, { listener: { mode: "udp", address: ipAddress(LOCAL, port) } }),
    );
    const names = new Set<string>();
    for (let index = 0; index < 8; index += 1) {
      const client = await udpSocket();
      const first = await say(client, port, "1");
      const second = await say(client, port, "2");
      expect(second).toBe(first.replace("1", "2"));
      names.add(first.slice(0, 1));
    }
    expect([...names].sort()).toEqual(["a", "b"]);
    expect(proxy.engine.stats().listeners[0]).toMatchObject({
      connections: 8,
      totalConnections: 8,
      bytesIn: 16,
      bytesOut: 48,
    });
  });

  test("sessions end when nothing comes for a time", async () => {
    const proxy = await TestEngine.start(options);
    const port = await freePort();
    const address = ipAddress(LOCAL, port);
    await proxy.engine.apply(
      configOf([await udpServer("a")], { listener: { mode: "udp", address, idleTimeoutMs: 50 } }),
    );
    const client = await udpSocket();
    await say(client, port, "x");
    await proxy.until(({ listeners }) => listeners[0]?.connections === 0);
    expect(await say(client, port, "y")).toBe("a y");
    expect(proxy.engine.stats().listeners[0]?.totalConnections).toBe(2);
  });
});

describe("posix", requires("linux"), () => {
  test("a server that is gone is left for another", async () => {
    const gone = await freePort();
    const proxy = await TestEngine.start();
    const port = await freePort();
    await proxy.engine.apply(
      configOf([gone, await udpServer("alive")], {
        listener: { mode: "udp", address: ipAddress(LOCAL, port) },
      }),
    );
    const client = await udpSocket();
    let answer = "";
    client.on("message", (bytes) => {
      answer = String(bytes);
    });
    await expect
      .poll(() => {
        client.send("x", port, LOCAL);
        return answer;
      })
      .toBe("alive x");
  });

  test("many datagrams of many clients all come back", async () => {
    const proxy = await TestEngine.start({ loops: 2 });
    const port = await freePort();
    await proxy.engine.apply(
      configOf([await udpServer("a"), await udpServer("b")], {
        listener: { mode: "udp", address: ipAddress(LOCAL, port) },
      }),
    );
    const clients = await Promise.all(Array.from({ length: 50 }, () => udpSocket()));
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(clients.map((client) => say(client, port, String(round))));
    }
    expect(proxy.engine.stats().listeners[0]?.bytesIn).toBe(50 * (10 + 20));
  });

  test("an address in use is named", async () => {
    const taken = await udpSocket();
    const { port } = taken.address();
    const proxy = await TestEngine.start({ loops: 2 });
    const config = configOf([1], { listener: { mode: "udp", address: ipAddress(LOCAL, port) } });
    await expect(proxy.engine.apply(config)).rejects.toThrow(`${LOCAL}:${port} (UDP): EADDRINUSE`);
    taken.removeAllListeners();
  });
});
