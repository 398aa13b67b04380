import { once } from "node:events";
import {
  Agent,
  createServer,
  type IncomingMessage,
  type RequestListener,
  type RequestOptions,
  request,
} from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { NO_HINTS } from "../../src/core/model/route-hints.ts";
import { EMPTY_ENGINE_CONFIG } from "../../src/proxy/engine-config.ts";
import { requires } from "../support/requires.ts";
import { configOf, groupOf, LOCAL, listenerOf, serverOf } from "./proxy-config.ts";
import { ask, dial, readAll, startServer, TestEngine } from "./proxy-fixture.ts";

async function startWeb(listener: RequestListener, keepAliveMs = 5000): Promise<number> {
  const server = createServer({ keepAliveTimeout: keepAliveMs }, listener);
  server.on("upgrade", (message: IncomingMessage, socket) => {
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: ${message.headers.upgrade}\r\n\r\nhello `,
    );
    socket.pipe(socket);
  });
  server.listen(0, LOCAL);
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

const named =
  (name: string): RequestListener =>
  (message, response) => {
    message.resume();
    response.end(name);
  };

const echoBody: RequestListener = (message, response) => {
  message.pipe(response);
};

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

function agentOf(): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  return agent;
}

async function send(port: number, options: RequestOptions = {}, body?: Buffer): Promise<Answer> {
  const sent = request({ host: LOCAL, port, ...options });
  sent.end(body);
  const [message] = await once(sent, "response");
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part);
  return {
    status: message.statusCode,
    headers: message.headers,
    body: Buffer.concat(parts).toString(),
  };
}

async function startHttp(ports: readonly number[]): Promise<TestEngine> {
  const proxy = await TestEngine.start();
  await proxy.engine.apply(configOf(ports, { listener: { mode: "http" } }));
  return proxy;
}

describe("HTTP/1.1", requires("linux"), () => {
  test("requests of one connection are balanced one by one", async () => {
    const proxy = await startHttp([await startWeb(named("a")), await startWeb(named("b"))]);
    const agent = agentOf();
    const answers: string[] = [];
    for (let turn = 0; turn < 6; turn += 1) {
      answers.push((await send(proxy.port(), { agent })).body);
    }
    expect(answers.toSorted()).toEqual(["a", "a", "a", "b", "b", "b"]);
    expect(proxy.engine.stats().listeners[0]?.totalConnections).toBe(1);
    await proxy.until(({ groups }) => groups[0]?.connections === 0);
    expect(proxy.engine.stats().groups[0]?.totalConnections).toBe(6);
  });

  test("connections to servers are used again", async () => {
    const port = await startWeb((message, response) => {
      response.end(String(message.socket.remotePort));
    });
    const proxy = await startHttp([port]);
    const first = await send(proxy.port(), { agent: agentOf() });
    const second = await send(proxy.port(), { agent: agentOf() });
    expect(second.body).toBe(first.body);
  });

  test("servers are told who asks, and do not believe what clients say about that", async () => {
    const port = await startWeb((message, response) => {
      response.end(JSON.stringify(message.headers));
    });
    const proxy = await startHttp([port]);
    const { body } = await send(proxy.port(), {
      headers: { "X-Forwarded-For": "1.2.3.4", "X-Forwarded-Proto": "https", "X-Own": "kept" },
    });
    expect(JSON.parse(body)).toMatchObject({
      "x-forwarded-for": LOCAL,
      "x-forwarded-proto": "http",
      "x-own": "kept",
    });
  });

  test.each([
    ["with a length", 3_000_000, {}],
    ["in chunks", 3_000_000, { "Transfer-Encoding": "chunked" }],
    ["that is empty", 0, {}],
  ])("a body %s passes both ways", async (_, byteCount, headers) => {
    const proxy = await startHttp([await startWeb(echoBody)]);
    const agent = agentOf();
    const body = Buffer.alloc(byteCount, "portolan");
    for (let turn = 0; turn < 2; turn += 1) {
      const answer = await send(proxy.port(), { method: "POST", agent, headers }, body);
      expect(answer.body === body.toString()).toBe(true);
    }
    await proxy.until(({ groups }) => groups[0]?.connections === 0);
    const { bytesIn, bytesOut } = proxy.engine.stats().groups[0] ?? { bytesIn: 0, bytesOut: 0 };
    expect(Math.min(bytesIn, bytesOut)).toBeGreaterThanOrEqual(2 * byteCount);
  });

  test("many requests in one piece are answered in their order", async () => {
    const port = await startWeb((message, response) => response.end(message.url));
    const proxy = await startHttp([port]);
    const client = await dial(proxy.port());
    const requests = ["/1", "/2", "/3"].map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const last = "GET /4 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    client.write(requests.join("") + last);
    const answers = (await readAll(client)).toString();
    expect(answers.match(/^\/\d/gm)).toEqual(["/1", "/2", "/3", "/4"]);
  });

  test("an upgrade passes, and what follows is no HTTP", async () => {
    const proxy = await startHttp([await startWeb(named("a"))]);
    const client = await dial(proxy.port());
    const head = "GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n";
    client.end(`${head}and back`);
    const answer = (await readAll(client)).toString();
    expect(answer).toMatch(/^HTTP\/1\.1 101 /);
    expect(answer.split("\r\n\r\n")[1]).toBe("hello and back");
  });

  test("a client that waits for 100 gets it from the server", async () => {
    const proxy = await startHttp([await startWeb(echoBody)]);
    const sent = request({
      host: LOCAL,
      port: proxy.port(),
      method: "POST",
      headers: { Expect: "100-continue", "Content-Length": 5 },
    });
    sent.flushHeaders();
    await once(sent, "continue");
    sent.end("hello");
    const [message] = await once(sent, "response");
    const [body] = await once(message, "data");
    expect(String(body)).toBe("hello");
  });

  test("HEAD has no body, and the connection goes on", async () => {
    const port = await startWeb((message, response) => {
      response.setHeader("Content-Length", 5);
      response.end(message.method === "HEAD" ? undefined : "hello");
    });
    const proxy = await startHttp([port]);
    const agent = agentOf();
    const head = await send(proxy.port(), { method: "HEAD", agent });
    expect([head.body, head.headers["content-length"]]).toEqual(["", "5"]);
    expect((await send(proxy.port(), { agent })).body).toBe("hello");
    expect(proxy.engine.stats().listeners[0]?.totalConnections).toBe(1);
  });

  test("host and path choose the group, for each request", async () => {
    const [api, web] = [await startWeb(named("api")), await startWeb(named("web"))];
    const proxy = await TestEngine.start();
    const hints = { ...NO_HINTS, host: "*", path: "/api" };
    await proxy.engine.apply({
      ...EMPTY_ENGINE_CONFIG,
      listeners: [listenerOf({ mode: "http" })],
      upstreams: [
        {
          key: "web",
          affinitySeconds: 0,
          groups: [
            { group: "api", weight: 1, hints },
            { group: "web", weight: 1, hints: { ...NO_HINTS, host: "*" } },
          ],
        },
      ],
      groups: [groupOf([serverOf(api)], { key: "api" }), groupOf([serverOf(web)], { key: "web" })],
    });
    const agent = agentOf();
    const paths = ["/api/x", "/", "/api", "/apis"];
    const answers: string[] = [];
    for (const path of paths) answers.push((await send(proxy.port(), { agent, path })).body);
    expect(answers).toEqual(["api", "web", "api", "web"]);
  });

  test("what is no proper request is refused", async () => {
    const proxy = await startHttp([await startWeb(named("a"))]);
    const both =
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n";
    expect(await ask(proxy.port(), both)).toMatch(/^HTTP\/1\.1 400 /);
    expect(await ask(proxy.port(), "GET / HTTP/1.1\n\n")).toMatch(/^HTTP\/1\.1 400 /);
    expect(await ask(proxy.port(), "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n")).toMatch(/ 405 /);
    expect(proxy.engine.stats().groups[0]?.totalConnections).toBe(0);
  });

  test("without a server clients hear 503, from one that speaks nonsense 502", async () => {
    const proxy = await startHttp([]);
    expect((await send(proxy.port())).status).toBe(503);
    const nonsense = await startServer((socket) => socket.end("nonsense\r\n\r\n"));
    await proxy.engine.apply(configOf([nonsense.port], { listener: { mode: "http" } }));
    expect((await send(proxy.port())).status).toBe(502);
  });

  test("a server that answers never: 504", async () => {
    const mute = await startServer(() => undefined);
    const proxy = await TestEngine.start();
    await proxy.engine.apply(
      configOf([mute.port], { listener: { mode: "http", idleTimeoutMs: 100 } }),
    );
    expect((await send(proxy.port())).status).toBe(504);
  });

  test("a server that has closed an idle connection costs nobody a request", async () => {
    const { port } = await startServer((socket) => {
      let count = 0;
      socket.on("data", () => {
        count += 1;
        // It says that it stays, answers one request, and is gone with the second.
        if (count === 1) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        else socket.destroy();
      });
    });
    const proxy = await startHttp([port]);
    const agent = agentOf();
    for (let turn = 0; turn < 4; turn += 1) {
      expect((await send(proxy.port(), { agent })).body).toBe("ok");
    }
  });

  test("draining finishes the request that is under way, and tells the client to leave", async () => {
    let answer: () => void = () => undefined;
    const arrived = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const finish: (() => void)[] = [];
    const port = await startWeb((_message, response) => {
      finish.push(() => response.end("done"));
      answer();
    });
    const proxy = await startHttp([port]);
    const answered = send(proxy.port(), { agent: agentOf() });
    await arrived;
    const drained = proxy.engine.drain();
    for (const one of finish) one();
    expect(await answered).toMatchObject({ body: "done" });
    await drained;
  });
});
