import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as tlsConnect } from "node:tls";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { NO_HINTS } from "../../src/core/model/route-hints.ts";
import { unixAddress } from "../../src/platform/socket-address.ts";
import { EMPTY_ENGINE_CONFIG, type EngineConfig } from "../../src/proxy/engine-config.ts";
import { requires } from "../support/requires.ts";
import { configOf, groupOf, LOCAL, listenerOf, serverOf } from "./proxy-config.ts";
import { ask, dial, echo, greeter, readAll, startServer, TestEngine } from "./proxy-fixture.ts";

const run = promisify(execFile);

const NOBODY = {
  kind: "SecurityGroup",
  namespace: "default",
  name: "nobody",
  labels: {},
  annotations: {},
  defaultAccess: "deny",
  rules: [],
} as const;

function socketFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "portolan-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Two groups, `a.example` and everything else, behind one listener. */
async function hintedConfig(): Promise<EngineConfig> {
  const first = await startServer(greeter("a"));
  const other = await startServer(greeter("other"));
  return {
    ...EMPTY_ENGINE_CONFIG,
    listeners: [listenerOf()],
    upstreams: [
      {
        key: "web",
        affinitySeconds: 0,
        groups: [
          { group: "a", weight: 1, hints: { ...NO_HINTS, host: "a.example" } },
          { group: "other", weight: 1, hints: { ...NO_HINTS, host: "*" } },
        ],
      },
    ],
    groups: [
      groupOf([serverOf(first.port)], { key: "a" }),
      groupOf([serverOf(other.port)], { key: "other" }),
    ],
  };
}

describe("hints without termination", requires("linux"), () => {
  test("the Host of an HTTP request chooses the group", async () => {
    const proxy = await TestEngine.start();
    await proxy.engine.apply(await hintedConfig());
    const request = (host: string) => `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
    for (let turn = 0; turn < 3; turn += 1) {
      expect(await ask(proxy.port(), request("a.example"))).toBe("a");
      expect(await ask(proxy.port(), request("b.example"))).toBe("other");
    }
  });

  test("the server name of a TLS ClientHello chooses the group", async () => {
    const proxy = await TestEngine.start();
    await proxy.engine.apply(await hintedConfig());
    const wants = async (servername: string): Promise<string> => {
      const socket = await dial(proxy.port());
      const tls = tlsConnect({ socket, servername, rejectUnauthorized: false });
      // The servers speak no TLS: what they say is an error here, but it arrives.
      tls.on("error", () => undefined);
      await once(socket, "close");
      return servername;
    };
    await wants("a.example");
    await proxy.until(({ groups }) => groups[0]?.totalConnections === 1);
    await wants("b.example");
    await proxy.until(({ groups }) => groups[1]?.totalConnections === 1);
    expect(proxy.engine.stats().groups.map((group) => group.totalConnections)).toEqual([1, 1]);
  });

  test("bytes that are cut anywhere pass untouched", async () => {
    const heard = await startServer(echo);
    const proxy = await TestEngine.start();
    const config = await hintedConfig();
    const servers = [serverOf(heard.port)];
    await proxy.engine.apply({
      ...config,
      groups: config.groups.map((group) => ({ ...group, servers })),
    });
    const request = "POST /x HTTP/1.1\r\nHost: a.example\r\nContent-Length: 3\r\n\r\nabc";
    const client = await dial(proxy.port());
    for (const character of request) client.write(character);
    client.end();
    expect((await readAll(client)).toString()).toBe(request);
  });
});

describe("PROXY protocol", requires("linux"), () => {
  test.each(["v1", "v2"] as const)(
    "%s: what one engine sends the next one believes",
    async (send) => {
      const { port } = await startServer(echo);
      const inner = await TestEngine.start();
      await inner.engine.apply(
        configOf([port], {
          listener: { proxyProtocol: { send: "v1", acceptFrom: ["127.0.0.0/8"] } },
        }),
      );
      const outer = await TestEngine.start();
      await outer.engine.apply(
        configOf([inner.port()], { listener: { proxyProtocol: { send, acceptFrom: [] } } }),
      );
      const client = await dial(outer.port());
      client.end("hello");
      const from = `${LOCAL} ${LOCAL} ${client.localPort} ${outer.port()}`;
      expect((await readAll(client)).toString()).toBe(`PROXY TCP4 ${from}\r\nhello`);
    },
  );

  test("who must send a header and does not is refused", async () => {
    const { port } = await startServer(echo);
    const proxy = await TestEngine.start();
    const proxyProtocol = { send: "none", acceptFrom: ["127.0.0.0/8"] } as const;
    await proxy.engine.apply(configOf([port], { listener: { proxyProtocol } }));
    await expect(ask(proxy.port(), "GET / HTTP/1.1\r\n\r\n")).rejects.toThrow("ECONNRESET");
    expect(proxy.engine.stats().groups[0]?.totalConnections).toBe(0);
  });
});

describe("who and where", requires("linux"), () => {
  test("unix sockets on both sides", requires("curl"), async () => {
    const folder = socketFolder();
    const server = createServer(greeter("unix")).listen(join(folder, "server"));
    await once(server, "listening");
    onTestFinished(() => {
      server.close();
    });
    const proxy = await TestEngine.start({ loops: 2 });
    const config = configOf([], {
      listener: { address: unixAddress(join(folder, "proxy")) },
      group: { servers: [{ key: "a", host: join(folder, "server"), port: 0, weight: 1 }] },
    });
    await proxy.engine.apply(config);
    const { stdout } = await run("curl", [
      "--silent",
      "--http0.9",
      "--unix-socket",
      join(folder, "proxy"),
      "http://unix/",
    ]);
    expect(stdout).toBe("unix");
  });

  test("a security group keeps clients out", async () => {
    const { port } = await startServer(greeter("in"));
    const proxy = await TestEngine.start();
    await proxy.engine.apply(configOf([port], { listener: { access: NOBODY } }));
    await expect(ask(proxy.port())).rejects.toThrow("ECONNRESET");
    await proxy.engine.apply(
      configOf([port], { listener: { access: { ...NOBODY, defaultAccess: "allow" } } }),
    );
    expect(await ask(proxy.port())).toBe("in");
  });

  test("a client stays with its server, on whichever loop it comes in", async () => {
    const servers = await Promise.all(
      ["a", "b", "c", "d"].map((name) => startServer(greeter(name))),
    );
    const proxy = await TestEngine.start({ loops: 2 });
    const ports = servers.map(({ port }) => port);
    await proxy.engine.apply(configOf(ports, { affinitySeconds: 60 }));
    const first = await ask(proxy.port());
    for (let turn = 0; turn < 12; turn += 1) expect(await ask(proxy.port())).toBe(first);
    const used = servers["abcd".indexOf(first)];
    await used?.stop();
    const second = await ask(proxy.port());
    expect(second).not.toBe(first);
  });
});

describe("SOCKS5", requires("linux"), () => {
  test("who may not come in is not spoken with", async () => {
    const proxy = await TestEngine.start();
    await proxy.engine.apply(configOf([], { listener: { mode: "socks5", access: NOBODY } }));
    const socket = connect(proxy.port(), LOCAL);
    socket.write(Buffer.from([5, 1, 0]));
    await expect(once(socket, "data")).rejects.toThrow("ECONNRESET");
  });

  const curl = (port: number, ...args: string[]) =>
    run("curl", ["--silent", "--max-time", "5", "--socks5-hostname", `${LOCAL}:${port}`, ...args]);

  async function startWeb(text: string): Promise<number> {
    const server = createHttpServer((_request, response) => response.end(text));
    server.listen(0, LOCAL);
    await once(server, "listening");
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const address = server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  test(
    "a name leads to the group, an address to the server that has it",
    requires("curl"),
    async () => {
      const port = await startWeb("backend");
      const proxy = await TestEngine.start();
      const config = configOf([port], { listener: { mode: "socks5" } });
      const hints = { ...NO_HINTS, host: "web.example" };
      await proxy.engine.apply({
        ...config,
        upstreams: [
          { key: "web", affinitySeconds: 0, groups: [{ group: "web", weight: 1, hints }] },
        ],
      });
      expect((await curl(proxy.port(), "http://web.example/")).stdout).toBe("backend");
      expect((await curl(proxy.port(), `http://${LOCAL}:${port}/`)).stdout).toBe("backend");
      await expect(curl(proxy.port(), "http://other.example/")).rejects.toMatchObject({ code: 97 });
    },
  );

  test("others are reached directly where that is allowed", requires("curl"), async () => {
    const port = await startWeb("elsewhere");
    const proxy = await TestEngine.start({ loops: 2 });
    await proxy.engine.apply(configOf([], { listener: { mode: "socks5", allowOthers: true } }));
    expect((await curl(proxy.port(), `http://localhost:${port}/`)).stdout).toBe("elsewhere");
    expect((await curl(proxy.port(), `http://${LOCAL}:${port}/`)).stdout).toBe("elsewhere");
    await expect(curl(proxy.port(), "http://no.invalid/")).rejects.toMatchObject({ code: 97 });
  });

  test("a server may speak first, and success is told once the connection stands", async () => {
    const { port } = await startServer((socket) => socket.end("220 ready"));
    const gone = await startServer(echo);
    await gone.stop();
    const proxy = await TestEngine.start();
    await proxy.engine.apply(configOf([], { listener: { mode: "socks5", allowOthers: true } }));
    const wanted = (to: number) => Buffer.from([5, 1, 0, 1, 127, 0, 0, 1, to >> 8, to & 0xff]);
    const answerFor = async (to: number): Promise<Buffer> => {
      const client = await dial(proxy.port());
      client.write(Buffer.concat([Buffer.from([5, 1, 0]), wanted(to)]));
      return readAll(client);
    };
    const served = await answerFor(port);
    expect([...served.subarray(0, 6)]).toEqual([5, 0, 5, 0, 0, 1]);
    expect(served.subarray(12).toString()).toBe("220 ready");
    const refused = await answerFor(gone.port);
    expect([...refused.subarray(0, 4)]).toEqual([5, 0, 5, 5]);
  });
});
