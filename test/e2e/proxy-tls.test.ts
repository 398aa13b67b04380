import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect as connectHttp2, createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import type { ConnectionOptions, TLSSocket } from "node:tls";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { NO_HINTS } from "../../src/core/model/route-hints.ts";
import type { EngineConfig } from "../../src/proxy/engine-config.ts";
import { requires } from "../support/requires.ts";
import { groupOf, serverOf } from "./proxy-config.ts";
import { dial, echo, greeter, readAll, startServer, TestEngine } from "./proxy-fixture.ts";
import {
  Authority,
  dialTls,
  type Pair,
  shownName,
  tlsConfigOf,
  wireOver,
} from "./proxy-tls-fixture.ts";

let authority: Authority;
let pair: Pair;
let rsaPair: Pair;

beforeAll(async () => {
  authority = await Authority.create();
  pair = await authority.issue(["a.example"]);
  rsaPair = await (await Authority.create("rsa authority", "rsa")).issue(["a.example"]);
});

/** An engine whose listener leads to a server that echoes. */
async function serveEcho(
  more: Parameters<typeof tlsConfigOf>[2] = {},
  pairs: readonly Pair[] = [pair],
): Promise<TestEngine> {
  const proxy = await TestEngine.start();
  const { port } = await startServer(echo);
  await proxy.engine.apply(tlsConfigOf([port], pairs, more));
  return proxy;
}

/** What comes back of a text that is sent and ended. */
async function echoed(client: TLSSocket, text: string): Promise<string> {
  client.end(text);
  return (await readAll(client)).toString();
}

describe("TLS termination", requires("linux"), () => {
  test("passes what is said inside, and the end of it", async () => {
    const proxy = await serveEcho();
    const client = await dialTls(proxy.port(), { ca: authority.certPem, rejectUnauthorized: true });
    expect(client.getProtocol()).toBe("TLSv1.3");
    expect(await echoed(client, "hello")).toBe("hello");
    await proxy.until(({ listeners }) => listeners[0]?.connections === 0);
  });

  describe("versions and ciphers", () => {
    const V12 = { minVersion: "TLSv1.2", maxVersion: "TLSv1.2" } as const;

    test.each<[string, ConnectionOptions]>([
      ["TLS 1.2", V12],
      ["TLS 1.3", { minVersion: "TLSv1.3" }],
      ["CHACHA20", { ...V12, ciphers: "ECDHE-ECDSA-CHACHA20-POLY1305" }],
    ])("%s is spoken", async (_name, options) => {
      const proxy = await serveEcho();
      expect(await echoed(await dialTls(proxy.port(), options), "x")).toBe("x");
    });

    test.each<[string, ConnectionOptions]>([
      ["TLS 1.1", { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT:@SECLEVEL=0" }],
      ["CBC", { ...V12, ciphers: "ECDHE-ECDSA-AES128-SHA256" }],
      ["no forward secrecy", { ...V12, ciphers: "AES128-GCM-SHA256" }],
    ])("%s is not", async (_name, options) => {
      const proxy = await serveEcho({}, [pair, rsaPair]);
      await expect(dialTls(proxy.port(), options)).rejects.toThrow(/alert/);
      await proxy.until(({ listeners }) => listeners[0]?.failures === 1);
    });
  });

  describe("certificates", () => {
    const cases: readonly (readonly [string, string])[] = [
      ["a.example", "a.example"],
      ["b.example", "*.example"],
      ["A.Example", "a.example"],
      ["deep.b.example", "first.test"],
      ["unknown.test", "first.test"],
      ["", "first.test"],
    ];

    test("are chosen by the name that a client asks for; the first is for all others", async () => {
      const pairs = await Promise.all(
        ["first.test", "a.example", "*.example"].map((name) => authority.issue([name])),
      );
      const proxy = await serveEcho({}, pairs);
      for (const [servername, shown] of cases) {
        expect(shownName(await dialTls(proxy.port(), { servername }))).toBe(shown);
      }
    });

    test("of both types of keys serve one name", async () => {
      const proxy = await serveEcho({}, [pair, rsaPair]);
      const ec = await dialTls(proxy.port(), { sigalgs: "ECDSA+SHA256" });
      const rsa = await dialTls(proxy.port(), { sigalgs: "RSA-PSS+SHA256" });
      expect(ec.getPeerCertificate()).toMatchObject({ nistCurve: "P-256" });
      expect(rsa.getPeerCertificate()).toMatchObject({ bits: 2048 });
    });

    test("that do not fit their keys are refused by name, and the rest runs", async () => {
      const proxy = await serveEcho();
      const other = await authority.issue(["a.example"]);
      const config = tlsConfigOf([1], [{ certPem: pair.certPem, keyPem: other.keyPem }]);
      await expect(proxy.engine.apply(config)).rejects.toThrow(
        /^certificate certificate-0, listener web: can not be used: .*key values mismatch/,
      );
    });

    test("that are not there are named", async () => {
      const proxy = await TestEngine.start();
      const config: EngineConfig = { ...tlsConfigOf([1], [pair]), certificates: [] };
      await expect(proxy.engine.apply(config)).rejects.toThrow(
        "certificate certificate-0, listener web: can not be used: there is none of that name",
      );
    });
  });

  describe("ALPN", () => {
    const offer = { ALPNProtocols: ["h2", "http/1.1"] };

    test("HTTP/1.1 listeners choose it, and refuse who does not offer it", async () => {
      const proxy = await serveEcho({ listener: { mode: "http" } });
      expect((await dialTls(proxy.port(), offer)).alpnProtocol).toBe("http/1.1");
      expect((await dialTls(proxy.port())).alpnProtocol).toBe(false);
      await expect(dialTls(proxy.port(), { ALPNProtocols: ["h2"] })).rejects.toThrow(
        /no application protocol/,
      );
    });

    test("plain ones choose nothing", async () => {
      const proxy = await serveEcho();
      expect((await dialTls(proxy.port(), offer)).alpnProtocol).toBe(false);
    });
  });

  describe("client certificates", () => {
    test("of the right authority are let in, others and none are not", async () => {
      const stranger = await (await Authority.create("other")).issue(["client"]);
      const known = await authority.issue(["client"]);
      const proxy = await serveEcho({ clientCaPem: authority.certPem });
      const withPair = ({ certPem, keyPem }: Pair) => ({ cert: certPem, key: keyPem });
      expect(await echoed(await dialTls(proxy.port(), withPair(known)), "x")).toBe("x");
      for (const options of [withPair(stranger), {}]) {
        // In TLS 1.3 the client is done before the server has looked at its certificate.
        const refused = dialTls(proxy.port(), options).then((client) => once(client, "data"));
        await expect(refused).rejects.toThrow();
      }
      await proxy.until(({ listeners }) => listeners[0]?.failures === 2);
    });
  });

  describe("hints", () => {
    test("the name that a client asks for chooses the group, before it has said anything", async () => {
      const proxy = await TestEngine.start();
      const servers = await Promise.all(["one", "two"].map((name) => startServer(greeter(name))));
      const base = tlsConfigOf([], [await authority.issue(["one.example", "two.example"])]);
      const names = ["one", "two"];
      await proxy.engine.apply({
        ...base,
        upstreams: [
          {
            key: "web",
            affinitySeconds: 0,
            groups: names.map((name) => ({
              group: name,
              weight: 1,
              hints: { ...NO_HINTS, host: `${name}.example` },
            })),
          },
        ],
        groups: names.map((name, index) =>
          groupOf([serverOf(servers[index]?.port ?? 0)], { key: name }),
        ),
      });
      for (const name of names) {
        const client = await dialTls(proxy.port(), { servername: `${name}.example` });
        expect((await readAll(client)).toString()).toBe(name);
      }
    });
  });

  describe("streams", () => {
    const megabytes = Buffer.alloc(8_388_608, "0123456789abcdef");
    const digest = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

    test("much of it passes both ways at once, past a slow reader", async () => {
      const proxy = await serveEcho();
      const client = await dialTls(proxy.port());
      client.pause();
      client.end(megabytes);
      // Everything is full now: nothing moves until somebody reads.
      await proxy.until(({ listeners }) => (listeners[0]?.bytesOut ?? 0) > 100_000);
      const parts: Buffer[] = [];
      for await (const part of client) parts.push(part);
      expect(digest(Buffer.concat(parts))).toBe(digest(megabytes));
      await proxy.until(({ listeners }) => listeners[0]?.connections === 0);
    });

    test("a client that ends first still hears the answer", async () => {
      const proxy = await TestEngine.start();
      const { port } = await startServer((socket) => {
        socket.resume().on("end", () => socket.end(megabytes));
      });
      await proxy.engine.apply(tlsConfigOf([port], [pair]));
      const client = await dialTls(proxy.port(), { allowHalfOpen: true });
      client.end("done");
      expect(digest(await readAll(client))).toBe(digest(megabytes));
    });

    test("a server that ends first still hears the client", async () => {
      const proxy = await TestEngine.start();
      const heard: Promise<Buffer>[] = [];
      const { port } = await startServer((socket) => {
        socket.end("over");
        heard.push(readAll(socket));
      });
      await proxy.engine.apply(tlsConfigOf([port], [pair]));
      const client = await dialTls(proxy.port(), { allowHalfOpen: true });
      expect((await readAll(client)).toString()).toBe("over");
      client.end("and out");
      expect((await heard[0])?.toString()).toBe("and out");
    });

    test("a client that is cut off is no client that has ended", async () => {
      const proxy = await TestEngine.start();
      const { port, server } = await startServer(() => undefined);
      const called = once(server, "connection");
      await proxy.engine.apply(tlsConfigOf([port], [pair]));
      const raw = await dial(proxy.port());
      const client = await dialTls(proxy.port(), { socket: wireOver(raw) });
      client.write("half of i");
      const [socket] = await called;
      // Node takes a reset that comes together with bytes for an end.
      await once(socket, "data");
      const failed = once(socket, "error");
      // The FIN of TCP without the end of TLS.
      raw.end();
      expect(await failed).toMatchObject([{ code: "ECONNRESET" }]);
    });

    test("a server's reset is one for the client", async () => {
      const proxy = await TestEngine.start();
      const { port } = await startServer((socket) => {
        socket.once("data", () => socket.resetAndDestroy());
      });
      await proxy.engine.apply(tlsConfigOf([port], [pair]));
      const client = await dialTls(proxy.port());
      client.write("x");
      const [error] = await once(client, "error");
      expect(error).toMatchObject({ code: "ECONNRESET" });
    });
  });

  describe("other modes", () => {
    test("HTTP/2 is chosen, and spoken", async () => {
      const server = createServer().on("stream", (stream) => {
        stream.respond({ ":status": 200 });
        stream.end("two");
      });
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      onTestFinished(() => {
        server.close();
      });
      const proxy = await TestEngine.start();
      // A TCP server's address is never a path.
      const { port } = server.address() as AddressInfo;
      await proxy.engine.apply(tlsConfigOf([port], [pair], { listener: { mode: "h2" } }));
      const options = { rejectUnauthorized: false };
      const client = connectHttp2(`https://127.0.0.1:${proxy.port()}`, options);
      onTestFinished(() => client.destroy());
      const stream = client.request({ ":path": "/" });
      expect((await stream.toArray()).join("")).toBe("two");
      expect(client.alpnProtocol).toBe("h2");
      const http1 = await dialTls(proxy.port(), { ALPNProtocols: ["http/1.1"] });
      expect(http1.alpnProtocol).toBe("http/1.1");
    });

    test("SOCKS5 is spoken inside", async () => {
      const proxy = await TestEngine.start();
      const { port } = await startServer(greeter("hello"));
      await proxy.engine.apply(tlsConfigOf([port], [pair], { listener: { mode: "socks5" } }));
      const client = await dialTls(proxy.port());
      client.write(Buffer.from([5, 1, 0]));
      expect(await once(client, "data")).toEqual([Buffer.from([5, 0])]);
      client.write(Buffer.from([5, 1, 0, 1, 127, 0, 0, 1, port >> 8, port & 0xff]));
      const replied = await readAll(client);
      expect(replied.subarray(0, 2)).toEqual(Buffer.from([5, 0]));
      expect(replied.subarray(10).toString()).toBe("hello");
    });

    test("datagrams have none", async () => {
      const proxy = await TestEngine.start();
      const config = tlsConfigOf([1], [pair], { listener: { mode: "udp" } });
      await expect(proxy.engine.apply(config)).rejects.toThrow(
        "listener web: TLS is not for mode udp",
      );
    });
  });

  test("one who does not speak TLS is refused at once, and counted", async () => {
    const proxy = await serveEcho();
    const client = await dial(proxy.port());
    client.write("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n");
    const [error] = await once(client, "error");
    expect(error).toMatchObject({ code: "ECONNRESET" });
    await proxy.until(({ listeners }) => listeners[0]?.failures === 1);
    expect(await echoed(await dialTls(proxy.port()), "x")).toBe("x");
  });

  test("renegotiation is refused", async () => {
    const proxy = await serveEcho();
    const client = await dialTls(proxy.port(), { maxVersion: "TLSv1.2" });
    const refused = once(client, "error");
    client.renegotiate({}, () => undefined);
    const [error] = await refused;
    expect(error).toMatchObject({ message: expect.stringMatching(/renegotiation/) });
  });

  describe("the provider node", () => {
    test("says that it does no TLS", async () => {
      const proxy = await TestEngine.start({ provider: "node" });
      await expect(proxy.engine.apply(tlsConfigOf([1], [pair]))).rejects.toThrow(
        /listener web: TLS is terminated on the provider posix only/,
      );
    });
  });
});
