import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runCli } from "../support/cli.ts";
import { makeCertificate } from "../support/make-certificate.ts";
import { requires } from "../support/requires.ts";
import {
  bySocks,
  curl,
  headsOf,
  makeFolder,
  PAGE,
  PASSWORD,
  startAgent,
  startGateway,
  startServer,
  startSite,
} from "./websocks-fixture.ts";

const TUNNEL = requires("linux", "curl");

test(
  "SOCKS5, CONNECT and HTTP through agent, nginx and server",
  requires("linux", "curl", "nginx"),
  async () => {
    const site = await startSite();
    const server = await startServer(["--user", "alice"]);
    const gateway = await startGateway(server.port);
    const agent = await startAgent(["--server", `ws://alice@127.0.0.1:${gateway}/tunnel`]);
    const url = `http://localhost:${site}/large`;
    const proxy = ["--proxy", `http://127.0.0.1:${agent.port}`];
    expect((await bySocks(agent, url)) === PAGE).toBe(true);
    expect((await curl(...proxy, "--proxytunnel", url)) === PAGE).toBe(true);
    expect((await curl(...proxy, url)) === PAGE).toBe(true);
    // By now they come from the pool.
    expect(await bySocks(agent, `http://localhost:${site}/`)).toBe("in");
    expect(await curl(`http://127.0.0.1:${gateway}/`)).toBe("a site\n");
    expect(await curl(`http://127.0.0.1:${agent.port}/proxy.pac`)).toContain(
      `SOCKS5 127.0.0.1:${agent.port}; PROXY`,
    );
  },
);

test(
  "wss, with the authority that is given and with none that knows it",
  requires("linux", "curl", "openssl"),
  async () => {
    const site = await startSite();
    const folder = makeFolder();
    const { cert, key } = await makeCertificate(folder, "tunnel");
    const server = await startServer(["--user", "alice", "--tls-cert", cert, "--tls-key", key]);
    const to = ["--server", `wss://alice@127.0.0.1:${server.port}`];
    const agent = await startAgent([...to, "--ca", cert]);
    expect((await bySocks(agent, `http://localhost:${site}/large`)) === PAGE).toBe(true);
    const other = await startAgent(to, { seen: /server certificate: .*"msg":"a server is down"/ });
    expect(await bySocks(other, `http://localhost:${site}/`)).toBe("exit 97");
  },
);

test("users of a file, rules of both ends, and what is told of failures", TUNNEL, async () => {
  const [site, blocked, direct] = [await startSite(), await startSite(), await startSite()];
  const denied = await startSite("127.0.0.2");
  const users = join(makeFolder(), "users");
  writeFileSync(users, `ann:other\nbob:${PASSWORD}\n`);
  const server = await startServer(["--users-file", users, "--target", "deny 127.0.0.2"]);
  const agent = await startAgent([
    ...["--server", `ws://bob@127.0.0.1:${server.port}`],
    ...["--rule", `block localhost:${blocked}`, "--rule", `direct localhost:${direct}`],
  ]);
  const proxy = ["--proxytunnel", "--proxy", `http://127.0.0.1:${agent.port}`];
  const heads = (url: string) => headsOf(...proxy, url);
  expect(await bySocks(agent, `http://localhost:${site}/`)).toBe("in");
  // All of these are there: what keeps clients from them are the rules.
  for (const host of ["127.0.0.2", "[::ffff:127.0.0.2]"]) {
    expect(await bySocks(agent, `http://${host}:${denied}/`)).toBe("exit 97");
    expect(await heads(`http://${host}:${denied}/`)).toContain("HTTP/1.1 403");
  }
  expect(await bySocks(agent, `http://localhost:${blocked}/`)).toBe("exit 97");
  expect(await heads(`http://localhost:${blocked}/`)).toContain("HTTP/1.1 403");
  expect(await bySocks(agent, `http://127.0.0.1:${blocked}/`)).toBe("in");
  expect(await bySocks(agent, "http://localhost:1/")).toBe("exit 97");
  expect(await heads("http://localhost:1/")).toContain("HTTP/1.1 502");
  await server.cli.stop();
  expect(await bySocks(agent, `http://localhost:${site}/`)).toBe("exit 97");
  expect(await heads(`http://localhost:${site}/`)).toContain("HTTP/1.1 503");
  expect(await bySocks(agent, `http://localhost:${direct}/`)).toBe("in");
});

test(
  "who is no user any more gets no tunnel by a connection that was kept ready",
  TUNNEL,
  async () => {
    const site = await startSite();
    const users = join(makeFolder(), "users");
    writeFileSync(users, `ann:${PASSWORD}\n`);
    const server = await startServer(["--users-file", users]);
    const agent = await startAgent(["--server", `ws://ann@127.0.0.1:${server.port}`]);
    const url = `http://localhost:${site}/`;
    // The first makes the agent keep others ready.
    expect(await bySocks(agent, url)).toBe("in");
    expect(await bySocks(agent, url)).toBe("in");
    writeFileSync(users, "bob:another word\n");
    await server.cli.waitFor(/somebody without the right password/, "stderr");
    expect(await bySocks(agent, url)).toBe("exit 97");
  },
);

test("who has no password sees a site, and nothing of targets", TUNNEL, async () => {
  const site = await startSite();
  const folder = makeFolder();
  writeFileSync(join(folder, "index.html"), "<h1>Birds</h1>\n");
  writeFileSync(join(folder, ".secret"), "hidden");
  const server = await startServer(["--user", "alice", "--web-root", folder]);
  const at = `http://127.0.0.1:${server.port}`;
  const upgrade = [
    ...["--header", "Connection: Upgrade", "--header", "Upgrade: websocket"],
    ...["--header", "Sec-WebSocket-Version: 13"],
    ...["--header", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="],
  ];
  const protocol = ["--header", "Sec-WebSocket-Protocol: socks5"];
  const status = ["--output", "/dev/null", "--write-out", "%{http_code}"];
  expect(await curl(`${at}/`)).toBe("<h1>Birds</h1>\n");
  expect(await curl(...status, `${at}/.secret`)).toBe("404");
  expect(await curl(...status, "--path-as-is", `${at}/../../etc/passwd`)).toBe("404");
  expect(await curl(...status, ...upgrade, `${at}/`)).toBe("400");
  expect(await curl(...status, ...upgrade, ...protocol, `${at}/`)).toBe("401");
  expect(await curl(...status, ...upgrade, ...protocol, "-u", `alice:${PASSWORD}`, at)).toBe("401");
  const stranger = {
    env: { PORTOLAN_WEBSOCKS_PASSWORD: "guess" },
    seen: /it answers 401.*"msg":"a server is down"/,
  };
  const agent = await startAgent(["--server", `ws://alice@127.0.0.1:${server.port}`], stranger);
  expect(await bySocks(agent, `http://localhost:${site}/`)).toBe("exit 97");
  await server.cli.waitFor(/somebody without the right password/, "stderr");
  expect(server.cli.stderr).not.toContain(PASSWORD);
});

test("a site that keeps the connection does not hear what is for another one", TUNNEL, async () => {
  const heard: string[] = [];
  const site = createServer((socket) => {
    socket
      .on("error", () => undefined)
      .on("data", (bytes) => {
        heard.push(String(bytes).split("\r\n", 1)[0] ?? "");
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nin");
      });
  });
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  onTestFinished(() => {
    site.close();
  });
  const { port } = site.address() as AddressInfo;
  const server = await startServer(["--user", "alice"]);
  const agent = await startAgent(["--server", `ws://alice@127.0.0.1:${server.port}`]);
  const requests = [
    ["GET", "\r\n"],
    ["POST", "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"],
    ["PUT", "Connection: upgrade\r\nUpgrade: websocket\r\n\r\n"],
  ] as const;
  for (const [method, more] of requests) {
    const client = connect(agent.port, "127.0.0.1").on("error", () => undefined);
    // With a reset: then a program asks again, by a new connection.
    const closed = new Promise((resolve) => client.once("close", resolve));
    client.write(`${method} http://127.0.0.1:${port}/one HTTP/1.1\r\nHost: a\r\n${more}`);
    await once(client, "data");
    client.write("GET http://other.example/two HTTP/1.1\r\nHost: b\r\nCookie: secret\r\n\r\n");
    await closed;
  }
  expect(heard).toEqual(["GET /one HTTP/1.1", "POST /one HTTP/1.1", "PUT /one HTTP/1.1"]);
});

test("IPv6, and another server where one dies", TUNNEL, async () => {
  const site = await startSite("::1");
  const first = await startServer(["--user", "alice"], { host: "::1" });
  const second = await startServer(["--user", "alice"]);
  const agent = await startAgent([
    ...["--server", `ws://alice@[::1]:${first.port}`],
    ...["--server", `ws://alice@127.0.0.1:${second.port}`],
  ]);
  const url = `http://[::1]:${site}/`;
  expect(await bySocks(agent, url)).toBe("in");
  expect(await bySocks(agent, url)).toBe("in");
  await second.cli.stop();
  expect(await bySocks(agent, url)).toBe("in");
  expect(await bySocks(agent, url)).toBe("in");
});

test(
  "a server that gives no tunnels is not called, though it takes connections",
  TUNNEL,
  async () => {
    const site = await startSite();
    const server = await startServer(["--user", "alice"]);
    const agent = await startAgent(
      [
        ...["--server", `ws://alice@127.0.0.1:${site}`],
        ...["--server", `ws://alice@127.0.0.1:${server.port}`],
      ],
      { seen: /it answers 200, not 101.*"msg":"a server is down"/ },
    );
    await agent.cli.waitFor(/"msg":"a server is up"/, "stderr");
    for (let count = 0; count < 6; count += 1) {
      expect(await bySocks(agent, `http://localhost:${site}/`)).toBe("in");
    }
    // Whoever is sent to it finds that out for himself.
    expect(agent.cli.stderr).not.toContain("a server gives no tunnel");
  },
);

test("a site that can not be read is told at the start, also of a dry run", async () => {
  const env = { PORTOLAN_WEBSOCKS_PASSWORD: PASSWORD };
  for (const more of [[], ["--dry-run"]]) {
    const args = ["--listen", "127.0.0.1:1", "--user", "alice", "--web-root", "/none"];
    const server = await runCli(["websocks", "server", ...args, ...more], { env });
    expect(server.code).toBe(3);
    expect(server.stderr).toContain("--web-root: /none: ENOENT");
  }
});

test("wrong words are refused, each by its name", async () => {
  const server = await runCli(["websocks", "server", "--listen", "1", "--target", "forbid x"]);
  expect(server.code).toBe(2);
  expect(server.stderr).toContain("--user: missing");
  expect(server.stderr).toContain('--target: "forbid x" is not valid');
  const agent = await runCli(["websocks", "agent", "--listen", "1", "--server", "ws://a:pw@b:1"]);
  expect(agent.code).toBe(2);
  expect(agent.stderr).toContain("PORTOLAN_WEBSOCKS_PASSWORD");
  expect(agent.stderr).toContain("--server: ");
  expect(agent.stderr).not.toContain("pw@");
});
