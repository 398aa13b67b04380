import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Agent, interceptors, request } from "undici";
import { expect, onTestFinished, test, vi } from "vitest";
import { freePort, startNamedServer } from "../../../test/support/named-server.ts";
import { type Balance, balance } from "./balance.ts";
import type { ServersDescription } from "./state-description.ts";

const FAST = { protocol: "tcp", interval: "20ms", up: 1, down: 1 } as const;

async function balanced(description: ServersDescription): Promise<Balance> {
  const servers = await balance({ method: "round-robin", healthCheck: FAST, ...description });
  onTestFinished(() => servers.close());
  return servers;
}

/** The first line that a server says. */
async function nameOf(socket: Socket): Promise<string> {
  const [bytes] = await once(socket, "data");
  socket.destroy();
  await once(socket, "close");
  return String(bytes).trim();
}

/** Answers with its name and the host that it was asked for. */
async function startHttpServer(name: string): Promise<string> {
  const server = createServer((asked, answer) => answer.end(`${name} ${asked.headers.host}`));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("servers are enough: the rest has its defaults", async () => {
  const { port } = await startNamedServer("a");
  for (const places of [`127.0.0.1:${port}`, [`127.0.0.1:${port}`]]) {
    const servers = await balance({ servers: places });
    onTestFinished(() => servers.close());
    expect(await nameOf(await servers.connect())).toBe("a");
  }
});

test("without a server there is none to connect to, until there is", async () => {
  const servers = await balance({ servers: [] });
  onTestFinished(() => servers.close());
  await expect(servers.connect()).rejects.toMatchObject({ code: "ERR_NO_SERVER" });
  const { port } = await startNamedServer("a");
  await servers.replace(`127.0.0.1:${port}`);
  expect(await nameOf(await servers.connect())).toBe("a");
});

test("connections go to servers in turn, and never to one that is down", async () => {
  const [a, b] = [await startNamedServer("a"), await startNamedServer("b")];
  const nobody = await freePort();
  const places = [a.port, nobody, b.port].map((port) => `127.0.0.1:${port}`);
  const servers = await balanced({ servers: places });
  expect(servers.list().map(({ isHealthy }) => isHealthy)).toEqual([true, false, true]);
  expect(servers.list()[1]?.downReason).toBe("ECONNREFUSED");
  const heard = [];
  for (let turn = 0; turn < 6; turn += 1) heard.push(await nameOf(await servers.connect()));
  expect(heard.filter((name) => name === "a")).toHaveLength(3);
  expect(heard.filter((name) => name === "b")).toHaveLength(3);
});

test("a connection counts until it is closed, and least-connections goes by that", async () => {
  const [a, b] = [await startNamedServer("a"), await startNamedServer("b")];
  const servers = await balanced({
    servers: [`127.0.0.1:${a.port}`, `127.0.0.1:${b.port}`],
    method: "least-connections",
  });
  const held = await servers.connect();
  const open = () => servers.list().map(({ connections }) => connections);
  expect(open().toSorted()).toEqual([0, 1]);
  const other = held.remotePort === a.port ? "b" : "a";
  expect(await nameOf(await servers.connect())).toBe(other);
  expect(await nameOf(await servers.connect())).toBe(other);
  held.destroy();
  await once(held, "close");
  expect(open()).toEqual([0, 0]);
});

test("a server that goes down and comes back is told, and used again", async () => {
  const a = await startNamedServer("a");
  const port = await freePort();
  const servers = await balanced({ servers: [`127.0.0.1:${a.port}`] });
  const told: string[] = [];
  servers.onHealth((name, health) => told.push(`${name} ${health}`));
  await servers.replace([`127.0.0.1:${port}`]);
  await vi.waitUntil(() => told.includes(`127.0.0.1:${port} down`), { timeout: 10_000 });
  await expect(servers.connect()).rejects.toMatchObject({
    code: "ERR_NO_SERVER",
    message: `no server can take a connection: 127.0.0.1:${port} (ECONNREFUSED)`,
  });
  await servers.replace([`127.0.0.1:${port}`, `127.0.0.1:${a.port}`]);
  await vi.waitUntil(() => told.includes(`127.0.0.1:${a.port} up`), { timeout: 10_000 });
  expect(await nameOf(await servers.connect())).toBe("a");
});

test("without checks, servers that can not be reached are passed over, and each is told", async () => {
  const a = await startNamedServer("a");
  const [first, second] = [await freePort(), await freePort()];
  const [x, y] = [`127.0.0.1:${first}`, `127.0.0.1:${second}`];
  const servers = await balanced({ servers: [x, y], healthCheck: "none" });
  const refused = await servers.connect().catch((error: Error) => error);
  expect(String(refused)).toContain("no server could be reached: ");
  for (const place of [x, y]) {
    expect(String(refused)).toContain(`${place}: connect ECONNREFUSED ${place}`);
  }
  await servers.replace([x, y, `127.0.0.1:${a.port}`]);
  for (let turn = 0; turn < 3; turn += 1) expect(await nameOf(await servers.connect())).toBe("a");
});

test("servers may all go, and others come", async () => {
  const a = await startNamedServer("a");
  const servers = await balanced({ servers: [`127.0.0.1:${a.port}`] });
  await servers.replace([]);
  expect(servers.list()).toEqual([]);
  await expect(servers.connect()).rejects.toMatchObject({
    code: "ERR_NO_SERVER",
    message: "no server can take a connection: there are none",
  });
  await servers.replace([`127.0.0.1:${a.port}`]);
  expect(await nameOf(await servers.connect())).toBe("a");
});

test("a name that leads nowhere is told", async () => {
  const servers = await balanced({ servers: "nobody.invalid:80" });
  await expect(servers.connect()).rejects.toMatchObject({
    code: "ERR_NO_SERVER",
    message: "no server can take a connection: nobody.invalid:80 (its name leads to no address)",
  });
});

test.each([
  { tls: { certificate: "own", peers: ["spiffe://portolan/*"] } },
  { annotations: { "portolan/transport": "kcp" } },
])("what a service can have, and a client's servers can not, is refused: %j", async (more) => {
  await expect(balanced({ servers: "127.0.0.1:80", ...more })).rejects.toMatchObject({
    code: "ERR_STATE_INVALID",
    message: expect.stringContaining(
      `${Object.keys(more)[0]}: unknown key; expected one of servers`,
    ),
  });
});

test("a unix socket that nobody listens on is tried once, and passed over", async () => {
  const a = await startNamedServer("a");
  const nobody = "unix:/run/portolan-nobody.sock";
  const servers = await balanced({ servers: nobody, healthCheck: "none" });
  await expect(servers.connect()).rejects.toMatchObject({
    code: "ERR_NO_SERVER",
    message: expect.stringContaining(`${nobody}: connect ENOENT`),
  });
  await servers.replace([nobody, `127.0.0.1:${a.port}`]);
  for (let turn = 0; turn < 2; turn += 1) expect(await nameOf(await servers.connect())).toBe("a");
});

test("undici: each request has its turn, with the host that was asked for", async () => {
  const places = [await startHttpServer("a"), await startHttpServer("b")];
  const servers = await balanced({ servers: places });
  const dispatcher = new Agent().compose(servers.interceptor());
  onTestFinished(() => dispatcher.close());
  const ask = async (headers?: Record<string, string>): Promise<string> => {
    const options = { dispatcher, ...(headers && { headers }) };
    return (await request("http://web.example/", options)).body.text();
  };
  const heard = [await ask(), await ask(), await ask(), await ask()];
  expect(heard.toSorted()).toEqual([
    "a web.example",
    "a web.example",
    "b web.example",
    "b web.example",
  ]);
  expect(await ask({ Host: "own.example" })).toMatch(/ own\.example$/);
  expect(servers.list().map(({ connections }) => connections)).toEqual([0, 0]);
});

test("undici: with its own retries a request goes to a server that is there", async () => {
  const nobody = `127.0.0.1:${await freePort()}`;
  const servers = await balanced({
    servers: [await startHttpServer("a"), nobody],
    healthCheck: { ...FAST, protocol: "none" },
  });
  const retry = interceptors.retry({ minTimeout: 1, errorCodes: ["ECONNREFUSED"] });
  const dispatcher = new Agent().compose(servers.interceptor(), retry);
  onTestFinished(() => dispatcher.close());
  for (let turn = 0; turn < 4; turn += 1) {
    const { body } = await request("http://web.example/", { dispatcher });
    expect(await body.text()).toBe("a web.example");
  }
});

test("what is wrong is named", async () => {
  await expect(balance({ servers: ["10.0.0.1"] })).rejects.toMatchObject({
    code: "ERR_STATE_INVALID",
    problems: [{ path: ["servers", 0], value: '"10.0.0.1"' }],
  });
  await expect(balance({ servers: ["10.0.0.1:99999"] })).rejects.toThrow(
    /^servers\[0\]: "10\.0\.0\.1:99999" is not valid; expected /,
  );
});
