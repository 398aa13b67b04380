import { once } from "node:events";
import { Agent, createServer, request } from "node:http";
import { createServer as createH2Server } from "node:http2";
import { connect, createServer as createNetServer, type Server, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ListenerConfig } from "../../src/proxy/engine-config.ts";
import { parseProxyHeader } from "../../src/wire/proxy-protocol/parse-proxy-header.ts";
import { requires } from "../support/requires.ts";
import { configOf, LOCAL } from "./proxy-config.ts";
import { dial, startServer, TestEngine } from "./proxy-fixture.ts";
import { dialH2, send } from "./proxy-h2-fixture.ts";

const PROVIDERS = [
  { provider: "posix", loops: 1 },
  { provider: "node", loops: 1 },
] as const;

interface Greeted {
  readonly port: number;
  /** What connections began with: whom they are for. */
  readonly greetings: string[];
}

/** A server behind the PROXY protocol: what comes after the header is passed on to it. */
async function startGreeted(inner: Server): Promise<Greeted> {
  const greetings: string[] = [];
  const innerPort = await listen(inner);
  const front = createNetServer((socket: Socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (bytes: Buffer) => {
      const header = parseProxyHeader(bytes, 0, bytes.length);
      if (header.kind !== "header") {
        greetings.push(header.kind);
        socket.destroy();
        return;
      }
      const { source } = header.connection ?? {};
      greetings.push(`${source?.ip}:${source?.port}`);
      const onward = connect(innerPort, LOCAL);
      onward.on("error", () => undefined);
      onward.write(bytes.subarray(header.end));
      socket.pipe(onward).pipe(socket);
    });
  });
  return { port: await listen(front), greetings };
}

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket));
  server.listen(0, LOCAL);
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

function http1Server(): Server {
  return createServer((message, response) => {
    message.resume();
    response.end(message.url);
  });
}

async function start(
  options: (typeof PROVIDERS)[number],
  port: number,
  listener: Partial<ListenerConfig>,
): Promise<TestEngine> {
  const proxy = await TestEngine.start(options);
  await proxy.engine.apply(configOf([port], { listener }));
  return proxy;
}

/** Calls on a connection that stays; its own address comes first. */
function createCaller(port: number): (path: string) => Promise<readonly [string, string]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  return async (path) => {
    const asked = request({ host: LOCAL, port, agent, path }).end();
    const [response] = await once(asked, "response");
    const from = `${response.socket.localAddress}:${response.socket.localPort}`;
    const [body] = await once(response, "data");
    if (!response.readableEnded) await once(response, "end");
    return [from, String(body)];
  };
}

describe.each(PROVIDERS)(
  "servers are told who calls, with $provider",
  requires("linux"),
  (options) => {
    test.each(["v1", "v2"] as const)(
      "HTTP, %s: each client has connections of its own",
      async (v) => {
        const { port, greetings } = await startGreeted(http1Server());
        const proxyProtocol = { send: v, acceptFrom: [] };
        const proxy = await start(options, port, { mode: "http", proxyProtocol });
        const [one, other] = [createCaller(proxy.port()), createCaller(proxy.port())];
        const [from] = await one("/1");
        expect((await one("/2"))[1]).toBe("/2");
        const [otherFrom] = await other("/3");
        expect((await one("/4"))[1]).toBe("/4");
        expect(greetings).toEqual([from, otherFrom]);
      },
    );

    test("HTTP: the connections of a client that is gone are gone", async () => {
      const { port } = await startGreeted(http1Server());
      const proxyProtocol = { send: "v1", acceptFrom: [] } as const;
      const proxy = await start(options, port, { mode: "http", proxyProtocol });
      const client = await dial(proxy.port());
      client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
      await once(client, "data");
      client.end();
      const open = async (): Promise<number> =>
        (await proxy.engine.channels.list()).filter(({ kind }) => kind === "connection").length;
      await expect.poll(open).toBe(0);
    });

    test("HTTP: what a trusted proxy says of its client is passed on", async () => {
      const { port, greetings } = await startGreeted(http1Server());
      const proxyProtocol = { send: "v1", acceptFrom: ["127.0.0.0/8"] } as const;
      for (const mode of ["http", "h2"] as const) {
        const proxy = await start(options, port, { mode, proxyProtocol });
        const client = await dial(proxy.port());
        client.write("PROXY TCP4 192.0.2.7 192.0.2.1 4711 80\r\n");
        client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        await once(client, "data");
      }
      expect(greetings).toEqual(["192.0.2.7:4711", "192.0.2.7:4711"]);
    });

    test("HTTP/2, to servers of HTTP/2 and of HTTP/1.1", async () => {
      const h2 = createH2Server();
      h2.on("stream", (stream, headers) => {
        stream.respond({ ":status": 200 });
        stream.end(headers[":path"]);
      });
      for (const inner of [h2, http1Server()]) {
        const { port, greetings } = await startGreeted(inner);
        const proxyProtocol = { send: "v2", acceptFrom: [] } as const;
        const proxy = await start(options, port, { mode: "h2", proxyProtocol });
        const clients = [await dialH2(proxy.port()), await dialH2(proxy.port())];
        for (const client of clients) {
          expect((await send(client, { ":path": "/a" })).body).toBe("/a");
          expect((await send(client, { ":path": "/b" })).body).toBe("/b");
        }
        const froms = clients.map(({ socket }) => `${socket?.localAddress}:${socket?.localPort}`);
        expect(new Set(greetings)).toEqual(new Set(froms));
      }
    });
  },
);

describe("a client that is reset as soon as it came", requires("linux"), () => {
  test("leaves nothing, also where its address is asked for", async () => {
    const { port } = await startServer((socket) => socket.end());
    const proxy = await TestEngine.start();
    const access = {
      kind: "SecurityGroup",
      namespace: "default",
      name: "some",
      labels: {},
      annotations: {},
      defaultAccess: "allow",
      rules: [],
    } as const;
    const address = { family: "v6", ip: "::1", port: 0 } as const;
    const affinity = { affinitySeconds: 60 };
    await proxy.engine.apply(configOf([port], { listener: { address, access }, ...affinity }));
    for (let round = 0; round < 100; round += 1) {
      const socket = connect(proxy.port(), "::1");
      socket.on("error", () => undefined);
      await once(socket, "connect");
      socket.resetAndDestroy();
    }
    await proxy.until(({ listeners }) => listeners[0]?.totalConnections === 100);
    await proxy.until(({ listeners }) => listeners[0]?.connections === 0);
    expect(proxy.lines.filter((line) => line.includes("callback"))).toEqual([]);
  });
});
