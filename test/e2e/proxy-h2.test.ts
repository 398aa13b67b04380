import { once } from "node:events";
import { connect as connectH2, constants } from "node:http2";
import { connect as connectTls } from "node:tls";
import { describe, expect, onTestFinished, test } from "vitest";
import { NO_HINTS } from "../../src/core/model/route-hints.ts";
import { EMPTY_ENGINE_CONFIG } from "../../src/proxy/engine-config.ts";
import { requires } from "../support/requires.ts";
import { groupOf, LOCAL, listenerOf, serverOf } from "./proxy-config.ts";
import { ask, dial, readAll, startServer, TestEngine } from "./proxy-fixture.ts";
import {
  answerOf,
  dialH2,
  echoBody,
  h2Config,
  named,
  resetCodeOf,
  type Serve,
  send,
  startH2,
  startHttp1,
  startProxy,
} from "./proxy-h2-fixture.ts";
import { Authority, tlsConfigOf } from "./proxy-tls-fixture.ts";

const tellHeaders: Serve = (stream, headers) => {
  stream.respond({ ":status": 200 });
  stream.end(JSON.stringify(headers));
};

describe("HTTP/2", requires("linux"), () => {
  test("streams of one connection are balanced one by one", async () => {
    const proxy = await startProxy([await startH2(named("a")), await startH2(named("b"))]);
    const client = await dialH2(proxy.port());
    const answers = await Promise.all(Array.from({ length: 6 }, () => send(client)));
    expect(answers.map(({ body }) => body).toSorted()).toEqual(["a", "a", "a", "b", "b", "b"]);
    expect(proxy.engine.stats().listeners[0]?.totalConnections).toBe(1);
    await proxy.until(({ groups }) => groups[0]?.connections === 0);
    expect(proxy.engine.stats().groups[0]?.totalConnections).toBe(6);
  });

  test("clients share the connections to servers", async () => {
    const port = await startH2((stream) => {
      stream.respond({ ":status": 200 });
      stream.end(String(stream.session?.socket.remotePort));
    });
    const proxy = await startProxy([port]);
    const clients = [await dialH2(proxy.port()), await dialH2(proxy.port())];
    const answers = await Promise.all(
      [...clients, ...clients].map(async (client) => (await send(client)).body),
    );
    expect(new Set(answers).size).toBe(1);
  });

  test.each([0, 5, 3_000_000])("a body of %d bytes passes both ways", async (byteCount) => {
    const proxy = await startProxy([await startH2(echoBody)]);
    const client = await dialH2(proxy.port());
    const body = Buffer.alloc(byteCount, "portolan");
    for (let turn = 0; turn < 2; turn += 1) {
      const answer = await send(client, { ":method": "POST" }, body);
      expect(answer.body === body.toString()).toBe(true);
    }
    await proxy.until(({ groups }) => groups[0]?.connections === 0);
    const { bytesIn, bytesOut } = proxy.engine.stats().groups[0] ?? { bytesIn: 0, bytesOut: 0 };
    expect([bytesIn, bytesOut]).toEqual([2 * byteCount, 2 * byteCount]);
  });

  test("many streams with bodies at once, none mixed with another", async () => {
    const proxy = await startProxy([await startH2(echoBody), await startH2(echoBody)]);
    const client = await dialH2(proxy.port());
    const bodies = Array.from({ length: 60 }, (_, at) => `<${at}>`.repeat(20_000));
    const answers = await Promise.all(
      bodies.map(async (body) => send(client, { ":method": "POST" }, Buffer.from(body))),
    );
    expect(answers.every(({ body }, at) => body === bodies[at])).toBe(true);
  });

  test("heads of 1xx, heads, bodies and trailers pass in their order", async () => {
    const port = await startH2((stream) => {
      stream.additionalHeaders({ ":status": 103, link: "</a.css>; rel=preload" });
      stream.respond({ ":status": 201, "x-own": "kept" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.end("body");
    });
    const proxy = await startProxy([port]);
    const stream = (await dialH2(proxy.port())).request();
    const early = once(stream, "headers");
    const answer = await answerOf(stream);
    expect((await early)[0]).toMatchObject({ ":status": 103, link: "</a.css>; rel=preload" });
    expect(answer).toMatchObject({ status: 201, body: "body" });
    expect(answer.headers["x-own"]).toBe("kept");
    expect(answer.trailers["grpc-status"]).toBe("0");
  });

  test("trailers of requests, and a conversation both ways", async () => {
    const port = await startH2((stream) => {
      stream.respond({ ":status": 200 });
      stream.on("data", (part) => stream.write(`heard ${part}`));
      stream.on("trailers", (fields) => stream.end(`then ${fields["x-last"]}`));
    });
    const proxy = await startProxy([port]);
    const stream = (await dialH2(proxy.port())).request(
      { ":method": "POST" },
      { waitForTrailers: true },
    );
    stream.on("wantTrailers", () => stream.sendTrailers({ "x-last": "word" }));
    await once(stream, "response");
    for (const word of ["one", "two"]) {
      stream.write(word);
      expect(String((await once(stream, "data"))[0])).toBe(`heard ${word}`);
    }
    stream.end();
    expect(String((await once(stream, "data"))[0])).toBe("then word");
  });

  test("servers are told who asks, and do not believe what clients say about that", async () => {
    const proxy = await startProxy([await startH2(tellHeaders)]);
    const client = await dialH2(proxy.port());
    const { body } = await send(client, {
      "x-forwarded-for": "1.2.3.4",
      "x-forwarded-proto": "https",
      forwarded: "for=1.2.3.4",
      "x-own": "kept",
      te: "trailers",
    });
    expect(JSON.parse(body)).toMatchObject({
      ":method": "GET",
      ":scheme": "http",
      ":path": "/",
      ":authority": `${LOCAL}:${proxy.port()}`,
      "x-forwarded-for": LOCAL,
      "x-forwarded-proto": "http",
      "x-own": "kept",
      te: "trailers",
    });
    expect(JSON.parse(body)).not.toHaveProperty("forwarded");
  });

  test("a trusted hop is believed, and added to", async () => {
    const proxy = await startProxy([await startH2(tellHeaders)], {
      listener: { trustedHops: ["127.0.0.0/8"] },
    });
    const client = await dialH2(proxy.port());
    const { body } = await send(client, {
      "x-forwarded-for": "1.2.3.4",
      "x-forwarded-proto": "https",
    });
    expect(JSON.parse(body)).toMatchObject({
      "x-forwarded-for": `1.2.3.4, ${LOCAL}`,
      "x-forwarded-proto": "https",
    });
  });

  test("authority and path choose the group, for each stream", async () => {
    const [api, web] = [await startH2(named("api")), await startH2(named("web"))];
    const proxy = await TestEngine.start();
    const hints = { ...NO_HINTS, host: "*", path: "/api" };
    await proxy.engine.apply({
      ...EMPTY_ENGINE_CONFIG,
      listeners: [listenerOf({ mode: "h2" })],
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
    const client = await dialH2(proxy.port());
    const paths = ["/api/x?q", "/", "/api", "/apis"];
    const answers = await Promise.all(
      paths.map(async (path) => (await send(client, { ":path": path })).body),
    );
    expect(answers).toEqual(["api", "web", "api", "web"]);
  });

  test("fields with every character pass, also in Huffman code", async () => {
    const proxy = await startProxy([await startH2(tellHeaders)]);
    const client = await dialH2(proxy.port());
    const characters = Array.from({ length: 95 }, (_, at) => String.fromCharCode(at + 32));
    // Long runs of short codes, so that the code pays for rare characters, too.
    const fields = characters.map((one, at) => [`x-${at}`, `${"a".repeat(30)}${one}e`] as const);
    const { body } = await send(client, Object.fromEntries(fields));
    expect(JSON.parse(body)).toMatchObject(Object.fromEntries(fields));
  });

  test("CONNECT is refused in words", async () => {
    const proxy = await startProxy([await startH2(named("a"))]);
    const client = await dialH2(proxy.port());
    const stream = client.request({ ":method": "CONNECT", ":authority": "a.example:443" });
    expect((await answerOf(stream)).status).toBe(405);
    expect((await send(client)).body).toBe("a");
  });

  test("heads that are too large are refused in words", async () => {
    const proxy = await startProxy([await startH2(named("a"))]);
    const client = await dialH2(proxy.port());
    const fields = Array.from({ length: 250 }, (_, at) => [`x-${at}`, "v"]);
    expect((await send(client, Object.fromEntries(fields))).status).toBe(431);
    expect((await send(client)).body).toBe("a");
  });

  test("clients that may not come in hear 403", async () => {
    const access = {
      kind: "SecurityGroup",
      namespace: "x",
      name: "nobody",
      labels: {},
      annotations: {},
      defaultAccess: "deny",
      rules: [],
    } as const;
    const proxy = await startProxy([await startH2(named("a"))], { listener: { access } });
    expect((await send(await dialH2(proxy.port()))).status).toBe(403);
  });

  test("the PROXY protocol says who the client is", async () => {
    const proxy = await startProxy([await startH2(tellHeaders)], {
      listener: { proxyProtocol: { send: "none", acceptFrom: ["127.0.0.0/8"] } },
    });
    const socket = await dial(proxy.port());
    socket.write("PROXY TCP4 10.1.2.3 10.0.0.1 1234 80\r\n");
    const client = connectH2(`http://${LOCAL}`, { createConnection: () => socket });
    onTestFinished(() => client.destroy());
    expect(JSON.parse((await send(client)).body)["x-forwarded-for"]).toBe("10.1.2.3");
  });

  test("clients choose HTTP/2 or HTTP/1.1 within TLS", async () => {
    const authority = await Authority.create();
    const pair = await authority.issue(["a.example"]);
    const [h2, http1] = [
      await startH2(tellHeaders),
      await startHttp1((_, answer) => answer.end("1")),
    ];
    const proxy = await TestEngine.start();
    const config = tlsConfigOf([h2], [pair], { listener: { mode: "h2" } });
    await proxy.engine.apply(config);
    const options = {
      host: LOCAL,
      port: proxy.port(),
      servername: "a.example",
      ca: authority.certPem,
    };
    const socket = connectTls({ ...options, ALPNProtocols: ["h2", "http/1.1"] });
    await once(socket, "secureConnect");
    const client = connectH2("https://a.example", { createConnection: () => socket });
    onTestFinished(() => client.destroy());
    expect(socket.alpnProtocol).toBe("h2");
    expect(JSON.parse((await send(client)).body)).toMatchObject({
      ":scheme": "https",
      "x-forwarded-proto": "https",
    });
    await proxy.engine.apply({ ...config, groups: [groupOf([serverOf(http1)])] });
    const old = connectTls({ ...options, ALPNProtocols: ["http/1.1"] });
    old.end("GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n");
    expect((await readAll(old)).toString()).toMatch(/^HTTP\/1\.1 200 [\s\S]*1/);
  });
});

describe("HTTP/1.1 on either side of HTTP/2", requires("linux"), () => {
  test("a client that speaks HTTP/1.1 is served as such", async () => {
    const proxy = await startProxy([await startHttp1((_, answer) => answer.end("old"))]);
    const request = "GET / HTTP/1.1\r\nHost: x\r\n";
    expect(await ask(proxy.port(), `${request}\r\n${request}Connection: close\r\n\r\n`)).toMatch(
      /200[\s\S]*old[\s\S]*200[\s\S]*old/,
    );
    await proxy.until(({ listeners }) => listeners[0]?.connections === 0);
    expect(proxy.engine.stats().listeners[0]?.totalConnections).toBe(1);
  });

  test("what is neither is closed without a word", async () => {
    const proxy = await startProxy([]);
    expect(await ask(proxy.port(), "\x16\x03\x01 hello")).toBe("");
    expect(proxy.engine.stats().listeners[0]?.failures).toBe(1);
  });

  test.each([
    ["with a length", true],
    ["without", false],
  ])(
    "a server that speaks HTTP/1.1 only gets bodies %s, and its answers pass",
    async (_, isSaid) => {
      const seen: (string | undefined)[] = [];
      const port = await startHttp1((message, answer) => {
        seen.push(message.headers["content-length"] ?? message.headers["transfer-encoding"]);
        answer.setHeader("X-Own", "Kept");
        message.pipe(answer);
      });
      const proxy = await startProxy([port]);
      const client = await dialH2(proxy.port());
      const body = Buffer.alloc(1_000_000, "portolan");
      const fields = isSaid ? { "content-length": body.length } : {};
      for (let turn = 0; turn < 2; turn += 1) {
        const answer = await send(client, { ":method": "POST", ...fields }, body);
        expect([answer.status, answer.headers["x-own"]]).toEqual([200, "Kept"]);
        expect(answer.headers["transfer-encoding"]).toBeUndefined();
        expect(answer.body === body.toString()).toBe(true);
      }
      expect(seen).toEqual(Array(2).fill(isSaid ? "1000000" : "chunked"));
    },
  );

  test("trailers pass both ways, without those that belong into a head", async () => {
    const port = await startHttp1((message, answer) => {
      message.resume().on("end", () => {
        answer.writeHead(200, { trailer: "X-Sum" });
        answer.write(JSON.stringify(message.trailers));
        answer.addTrailers({ "X-Sum": "7", "Content-Type": "no" });
        answer.end();
      });
    });
    const proxy = await startProxy([port]);
    const client = await dialH2(proxy.port());
    for (let turn = 0; turn < 2; turn += 1) {
      const stream = client.request({ ":method": "POST" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "x-last": "word", host: "no" }));
      stream.end("body");
      const { body, trailers } = await answerOf(stream);
      expect(JSON.parse(body)).toEqual({ "x-last": "word" });
      expect(Object.entries(trailers)).toEqual([["x-sum", "7"]]);
    }
  });

  test("its requests have Host, one Cookie and who asks", async () => {
    const port = await startHttp1((message, answer) => answer.end(JSON.stringify(message.headers)));
    const proxy = await startProxy([port]);
    const client = await dialH2(proxy.port());
    const { body } = await send(client, {
      ":authority": "a.example",
      cookie: ["a=1", "b=2"],
      te: "trailers",
      "x-forwarded-for": "1.2.3.4",
    });
    expect(JSON.parse(body)).toEqual({
      host: "a.example",
      cookie: "a=1; b=2",
      "x-forwarded-for": LOCAL,
      "x-forwarded-proto": "http",
    });
  });

  test("HEAD, 204 and 304 have no body; 100 passes", async () => {
    const port = await startHttp1((message, answer) => {
      const [, status = "200"] = (message.url ?? "").split("/");
      answer.writeHead(Number(status), status === "200" ? { "content-length": 5 } : {});
      answer.end(message.method === "HEAD" ? undefined : "hello");
    });
    const proxy = await startProxy([port]);
    const client = await dialH2(proxy.port());
    expect(await send(client, { ":method": "HEAD", ":path": "/200" })).toMatchObject({ body: "" });
    expect(await send(client, { ":path": "/204" })).toMatchObject({ status: 204, body: "" });
    expect(await send(client, { ":path": "/304" })).toMatchObject({ status: 304, body: "" });
    const stream = client.request({ ":method": "POST", ":path": "/200", expect: "100-continue" });
    await once(stream, "continue");
    stream.end("x");
    expect(await answerOf(stream)).toMatchObject({ status: 200, body: "hello" });
  });

  test("its connections are used again, one for each request that is under way", async () => {
    const ports = new Set<number | undefined>();
    const port = await startHttp1((message, answer) => {
      ports.add(message.socket.remotePort);
      answer.end("x");
    });
    const proxy = await startProxy([port]);
    const client = await dialH2(proxy.port());
    for (let turn = 0; turn < 5; turn += 1) expect((await send(client)).body).toBe("x");
    expect(ports.size).toBe(1);
  });

  test("a body that ends with the connection, and one that is cut off", async () => {
    const { port } = await startServer((socket) => {
      socket.once("data", (first) => {
        if (String(first).startsWith("PRI")) socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");
        else if (String(first).includes("/cut"))
          socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx");
        else socket.end("HTTP/1.0 200 OK\r\n\r\nto the end");
      });
    });
    const proxy = await startProxy([port]);
    const client = await dialH2(proxy.port());
    expect((await send(client)).body).toBe("to the end");
    const cut = client.request({ ":path": "/cut" });
    expect(await resetCodeOf(cut)).toBe(constants.NGHTTP2_INTERNAL_ERROR);
  });
});

test("Node's own sockets serve it, too", async () => {
  const proxy = await TestEngine.start({ provider: "node" });
  await proxy.engine.apply(h2Config([await startH2(echoBody)]));
  const client = await dialH2(proxy.port());
  const body = Buffer.alloc(500_000, "portolan");
  const answer = await send(client, { ":method": "POST" }, body);
  expect(answer.body === body.toString()).toBe(true);
});
