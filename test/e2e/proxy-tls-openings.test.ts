import { once } from "node:events";
import { createServer } from "node:http";
import { Agent as HttpsAgent, request as requestTls } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { Duplex } from "node:stream";
import { connect } from "node:tls";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../support/requires.ts";
import { seededBytes } from "../support/seeded-random.ts";
import { LOCAL } from "./proxy-config.ts";
import { dial, echo, readAll, startServer, TestEngine } from "./proxy-fixture.ts";
import { Authority, dialTls, type Pair, tlsConfigOf, wireOver } from "./proxy-tls-fixture.ts";

const TRUSTED = { send: "none", acceptFrom: ["127.0.0.0/8"] } as const;
const HEADER = "PROXY TCP4 192.0.2.7 198.51.100.1 5555 443\r\n";

let pair: Pair;

beforeAll(async () => {
  pair = await (await Authority.create()).issue(["a.example"]);
});

async function serve(
  onConnection: (socket: Socket) => void,
  listener: NonNullable<Parameters<typeof tlsConfigOf>[2]>["listener"] = {},
): Promise<TestEngine> {
  const proxy = await TestEngine.start();
  const { port } = await startServer(onConnection);
  await proxy.engine.apply(tlsConfigOf([port], [pair], { listener }));
  return proxy;
}

/** The first bytes of a client. */
async function clientHello(): Promise<Buffer> {
  return new Promise<Buffer>((resolve) => {
    const wire = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer) => resolve(chunk),
    });
    connect({ socket: wire, servername: "a.example" });
  });
}

describe("before and after the handshake", requires("linux"), () => {
  test("a PROXY header stands before it; the server is told of the real client", async () => {
    const heard: Promise<Buffer>[] = [];
    const proxyProtocol = { ...TRUSTED, send: "v1" } as const;
    const proxy = await serve((socket) => heard.push(readAll(socket)), { proxyProtocol });
    const raw = await dial(proxy.port());
    raw.write(HEADER);
    const client = await dialTls(proxy.port(), { socket: raw });
    client.end("hello");
    await expect.poll(() => heard.length).toBe(1);
    expect((await heard[0])?.toString()).toBe(`${HEADER}hello`);
  });

  test("a header in the very packet of the hello", async () => {
    const proxy = await serve(echo, { proxyProtocol: TRUSTED });
    const raw = await dial(proxy.port());
    raw.cork();
    raw.write(HEADER);
    const joined = dialTls(proxy.port(), { socket: raw });
    setImmediate(() => raw.uncork());
    (await joined).end("x");
    expect((await readAll(await joined)).toString()).toBe("x");
  });

  test("a trusted proxy that sends none is refused", async () => {
    const proxy = await serve(echo, { proxyProtocol: TRUSTED });
    await expect(dialTls(proxy.port())).rejects.toThrow(/ECONNRESET|disconnected/);
  });

  test("who may not come in is told so before anything is spent on it", async () => {
    const access = {
      kind: "SecurityGroup",
      namespace: "default",
      name: "nobody",
      labels: {},
      annotations: {},
      defaultAccess: "deny",
      rules: [],
    } as const;
    const proxy = await serve(echo, { access });
    await expect(dialTls(proxy.port())).rejects.toThrow(/ECONNRESET|disconnected/);
  });

  test("HTTP inside: servers hear that it was https, and from whom", async () => {
    const seen: unknown[] = [];
    const server = createServer((message, response) => {
      seen.push(message.headers);
      response.end("ok");
    });
    server.listen(0, LOCAL);
    await once(server, "listening");
    onTestFinished(() => {
      server.close();
    });
    const proxy = await TestEngine.start();
    // A TCP server's address is never a path.
    const { port } = server.address() as AddressInfo;
    await proxy.engine.apply(tlsConfigOf([port], [pair], { listener: { mode: "http" } }));
    const agent = new HttpsAgent({ keepAlive: true, rejectUnauthorized: false });
    onTestFinished(() => agent.destroy());
    for (let count = 0; count < 3; count += 1) {
      const asked = requestTls({ host: LOCAL, port: proxy.port(), agent }).end();
      const [response] = await once(asked, "response");
      expect((await response.toArray()).join("")).toBe("ok");
    }
    expect(seen).toHaveLength(3);
    expect(seen[0]).toMatchObject({ "x-forwarded-proto": "https", "x-forwarded-for": LOCAL });
  });

  test("a client that drips its handshake byte by byte is served", async () => {
    const proxy = await serve(echo);
    const raw = await dial(proxy.port());
    raw.setNoDelay(true);
    const dripping = wireOver(raw, (chunk, done) => void drip(raw, chunk).then(done));
    const client = await dialTls(proxy.port(), { socket: dripping });
    client.write("x");
    expect((await once(client, "data")).toString()).toBe("x");
  });

  test("one that is cut off anywhere in its hello leaves nothing behind", async () => {
    const proxy = await serve(echo);
    const hello = await clientHello();
    const cuts = [...hello.keys()].filter((cut) => cut < 80 || cut % 23 === 0);
    await Promise.all(
      cuts.map(async (cut) => {
        const socket = await dial(proxy.port());
        socket.end(hello.subarray(0, cut));
        await closed(socket);
      }),
    );
    await proxy.until(({ listeners: [web] }) => web?.failures === cuts.length);
    expect(proxy.engine.stats().listeners[0]).toMatchObject({ connections: 0 });
    (await dialTls(proxy.port())).destroy();
  });

  test("random bytes, also behind the beginning of a hello, are refused", async () => {
    const proxy = await serve(echo);
    const hello = await clientHello();
    const attempts = Array.from({ length: 64 }, (_, seed) => {
      const bytes = seededBytes(seed, 300);
      if (seed % 2 === 0) return bytes;
      const at = 6 + ((seed * 7) % (hello.length - 6));
      return Buffer.concat([hello.subarray(0, at), bytes, Buffer.alloc(20_000)]);
    });
    await Promise.all(
      attempts.map(async (bytes) => {
        const socket = await dial(proxy.port());
        socket.end(bytes);
        await closed(socket);
      }),
    );
    await proxy.until(({ listeners: [web] }) => web?.failures === attempts.length);
    const client = await dialTls(proxy.port());
    client.end("x");
    expect((await readAll(client)).toString()).toBe("x");
    expect(proxy.workers).toHaveLength(1);
  });
});

/** However it ends. */
async function closed(socket: Socket): Promise<void> {
  await new Promise((resolve) => socket.resume().on("close", resolve));
}

async function drip(socket: Socket, chunk: Buffer): Promise<void> {
  for (const byte of chunk) {
    await new Promise<void>((resolve) => socket.write(Buffer.from([byte]), () => resolve()));
  }
}
