import { once } from "node:events";
import {
  type ClientHttp2Stream,
  constants,
  type Http2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { describe, expect, test } from "vitest";
import { EMPTY_ENGINE_CONFIG } from "../../src/proxy/engine-config.ts";
import { requires } from "../support/requires.ts";
import { groupOf, serverOf } from "./proxy-config.ts";
import { dial, startServer, TestEngine } from "./proxy-fixture.ts";
import {
  answerOf,
  dialH2,
  h2Config,
  named,
  resetCodeOf,
  send,
  startH2,
  startH2Server,
  startProxy,
} from "./proxy-h2-fixture.ts";

const { NGHTTP2_CANCEL, NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_INTERNAL_ERROR } = constants;

/** A promise, and what settles it. */
function later<T>(): { readonly promise: Promise<T>; resolve(value: T): void } {
  let settle: (value: T) => void = () => undefined;
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: (value) => settle(value) };
}

describe("HTTP/2 when something fails", requires("linux"), () => {
  test("without a server clients hear 503; where none can be reached, 502", async () => {
    const proxy = await startProxy([]);
    const client = await dialH2(proxy.port());
    expect((await send(client)).status).toBe(503);
    const gone = await startServer(() => undefined);
    await gone.stop();
    await proxy.engine.apply(h2Config([gone.port]));
    expect((await send(client)).status).toBe(502);
  });

  test("a server that can not be reached costs nobody a request, with or without a body", async () => {
    const gone = await startServer(() => undefined);
    await gone.stop();
    const proxy = await startProxy([gone.port, await startH2(named("a"))]);
    const client = await dialH2(proxy.port());
    for (let turn = 0; turn < 4; turn += 1) {
      expect((await send(client, { ":method": "POST" }, Buffer.from("x"))).body).toBe("a");
    }
  });

  test("a server that says nothing: 504, and the connection goes on", async () => {
    const mute = await startServer(() => undefined);
    const proxy = await startProxy([mute.port], { listener: { connectTimeoutMs: 50 } });
    const client = await dialH2(proxy.port());
    expect((await send(client)).status).toBe(504);
    await proxy.engine.apply(h2Config([await startH2(named("a"))]));
    expect((await send(await dialH2(proxy.port()))).body).toBe("a");
  });

  test("a server that answers never: 504", async () => {
    const port = await startH2(() => undefined);
    const proxy = await startProxy([port], { listener: { idleTimeoutMs: 100 } });
    const answer = await send(await dialH2(proxy.port()));
    expect(answer.status).toBe(504);
  });

  test("a server that is gone amid an answer resets the stream; others are not touched", async () => {
    const { port, sessions } = await startH2Server((stream) => {
      stream.respond({ ":status": 200 });
      stream.write("a part");
    });
    const proxy = await startProxy([port]);
    const client = await dialH2(proxy.port());
    const stream = client.request();
    stream.on("error", () => undefined);
    await once(stream, "data");
    for (const session of sessions) session.destroy();
    expect(await resetCodeOf(stream)).toBe(NGHTTP2_INTERNAL_ERROR);
    await proxy.engine.apply(h2Config([await startH2(named("b"))]));
    expect((await send(await dialH2(proxy.port()))).body).toBe("b");
  });

  test("resets pass both ways, with their reasons", async () => {
    const served = later<ServerHttp2Stream>();
    const port = await startH2((stream, headers) => {
      if (headers[":path"] === "/") served.resolve(stream);
      else stream.close(NGHTTP2_ENHANCE_YOUR_CALM);
    });
    const proxy = await startProxy([port]);
    const client = await dialH2(proxy.port());
    const byServer = client.request({ ":path": "/reset" });
    expect(await resetCodeOf(byServer)).toBe(NGHTTP2_ENHANCE_YOUR_CALM);
    const byClient = client.request({ ":method": "POST" }, { endStream: false });
    byClient.on("error", () => undefined);
    const stream = await served.promise;
    byClient.close(NGHTTP2_CANCEL);
    if (!stream.closed) await once(stream, "close");
    expect(stream.rstCode).toBe(NGHTTP2_CANCEL);
    await proxy.until(({ groups }) => groups[0]?.connections === 0);
  });

  test("a client that is gone ends what it asked for", async () => {
    const served = later<ServerHttp2Stream>();
    const proxy = await startProxy([await startH2((stream) => served.resolve(stream))]);
    const client = await dialH2(proxy.port());
    client.request().on("error", () => undefined);
    const stream = await served.promise;
    client.destroy();
    if (!stream.closed) await once(stream, "close");
    expect(stream.rstCode).toBe(NGHTTP2_CANCEL);
    await proxy.until(({ listeners }) => listeners[0]?.connections === 0);
  });

  test("a client that does not read costs little, and keeps no other from reading", async () => {
    let written = 0;
    const port = await startH2((stream, headers) => {
      stream.respond({ ":status": 200 });
      if (headers[":path"] === "/small") {
        stream.end("small");
        return;
      }
      const chunk = Buffer.alloc(65_536);
      const fill = (): void => {
        while (written < 500_000_000) {
          written += chunk.length;
          if (!stream.write(chunk)) return;
        }
      };
      stream.on("drain", fill);
      fill();
    });
    const proxy = await startProxy([port]);
    const [slow, other] = [await dialH2(proxy.port()), await dialH2(proxy.port())];
    const stuck = slow.request({ ":path": "/large" });
    stuck.on("error", () => undefined);
    await once(stuck, "response");
    // The window of the client is full when nothing comes any more: each of these takes longer than that.
    for (let turn = 0; turn < 20; turn += 1) {
      expect((await send(other, { ":path": "/small" })).body).toBe("small");
    }
    expect((await send(slow, { ":path": "/small" })).body).toBe("small");
    expect(written).toBeLessThan(10_000_000);
  });

  test("a server that leaves costs nobody a request", async () => {
    const known = new Set<Http2Session | undefined>();
    const { port, sessions } = await startH2Server((stream) => {
      known.add(stream.session);
      stream.respond({ ":status": 200 });
      stream.end("x");
    });
    const proxy = await startProxy([port]);
    const client = await dialH2(proxy.port());
    for (let turn = 0; turn < 30; turn += 1) {
      const answered = Array.from({ length: 5 }, async () => (await send(client)).body);
      for (const session of sessions) session.close();
      expect(await Promise.all(answered)).toEqual(Array(5).fill("x"));
    }
    expect(known.size).toBeGreaterThan(5);
  });

  test("a server that takes few streams at once gets more connections", async () => {
    const finish: ServerHttp2Stream[] = [];
    const all = later<void>();
    const settings = { maxConcurrentStreams: 2 };
    const { port, sessions } = await startH2Server(
      (stream) => {
        stream.respond({ ":status": 200 });
        finish.push(stream);
        if (finish.length === 10) all.resolve();
      },
      { settings },
    );
    const proxy = await startProxy([port]);
    const client = await dialH2(proxy.port());
    const answers = Array.from({ length: 10 }, () => send(client));
    await all.promise;
    expect(sessions.size).toBeGreaterThanOrEqual(5);
    for (const stream of finish) stream.end("x");
    expect((await Promise.all(answers)).every(({ body }) => body === "x")).toBe(true);
  });

  test("draining finishes what is under way, and asks the client to leave", async () => {
    const served = later<ServerHttp2Stream>();
    const proxy = await startProxy([await startH2((stream) => served.resolve(stream))]);
    const client = await dialH2(proxy.port());
    const stream: ClientHttp2Stream = client.request();
    const answer = answerOf(stream);
    const server = await served.promise;
    const left = once(client, "goaway");
    const drained = proxy.engine.drain();
    expect((await left)[0]).toBe(constants.NGHTTP2_NO_ERROR);
    server.respond({ ":status": 200 });
    server.end("done");
    expect((await answer).body).toBe("done");
    await drained;
    expect(proxy.engine.stats().listeners.every(({ connections }) => connections === 0)).toBe(true);
  });

  test("a listener that is removed finishes what is under way, too", async () => {
    const served = later<ServerHttp2Stream>();
    const proxy = await startProxy([await startH2((stream) => served.resolve(stream))]);
    const client = await dialH2(proxy.port());
    const answer = send(client);
    const server = await served.promise;
    const left = once(client, "goaway");
    await proxy.engine.apply(EMPTY_ENGINE_CONFIG);
    await left;
    server.respond({ ":status": 200 });
    server.end("done");
    expect((await answer).body).toBe("done");
    if (!client.closed) await once(client, "close");
  });

  test("servers come and go under load: not one request fails", async () => {
    const [a, b] = [await startH2(named("a")), await startH2(named("b"))];
    const proxy = await startProxy([a, b]);
    const client = await dialH2(proxy.port());
    let isOver = false;
    let answered = 0;
    const ask = async (): Promise<void> => {
      while (!isOver) {
        const { status } = await send(client, { ":method": "POST" }, Buffer.alloc(2000));
        expect(status).toBe(200);
        answered += 1;
      }
    };
    const asking = Array.from({ length: 10 }, ask);
    const config = h2Config([a, b]);
    for (let turn = 0; turn < 40; turn += 1) {
      const ports = [[a], [b], [a, b]][turn % 3] ?? [a];
      await proxy.engine.apply({
        ...config,
        groups: [groupOf(ports.map((port) => serverOf(port)))],
      });
      const wanted = answered + 5;
      while (answered < wanted) await new Promise((resolve) => setImmediate(resolve));
    }
    isOver = true;
    await Promise.all(asking);
  });

  test("bytes that are no HTTP/2 end the connection with its reason, and nothing else", async () => {
    const proxy = await startProxy([await startH2(named("a"))]);
    const socket = await dial(proxy.port());
    socket.end("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff");
    socket.resume();
    await once(socket, "end");
    expect((await send(await dialH2(proxy.port()))).body).toBe("a");
    await proxy.until(({ listeners }) => listeners[0]?.connections === 1);
  });
});

test("an idle client is asked to leave", requires("linux"), async () => {
  const proxy = await TestEngine.start();
  const port = await startH2(named("a"));
  await proxy.engine.apply(h2Config([port], { listener: { idleTimeoutMs: 100 } }));
  const client = await dialH2(proxy.port());
  const left = once(client, "goaway");
  expect((await send(client)).body).toBe("a");
  expect((await left)[0]).toBe(constants.NGHTTP2_NO_ERROR);
  await proxy.until(({ listeners }) => listeners[0]?.connections === 0);
});
