import { execFile } from "node:child_process";
import { constants } from "node:crypto";
import { once } from "node:events";
import type { ConnectionOptions, TLSSocket } from "node:tls";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { requires } from "../support/requires.ts";
import { LOCAL, listenerOf } from "./proxy-config.ts";
import { echo, startServer, TestEngine } from "./proxy-fixture.ts";
import { Authority, dialTls, type Pair, tlsConfigOf } from "./proxy-tls-fixture.ts";

const run = promisify(execFile);
const LOOPS = 2;
const V12 = { maxVersion: "TLSv1.2" } as const;

let authority: Authority;
let pair: Pair;

beforeAll(async () => {
  authority = await Authority.create();
  pair = await authority.issue(["a.example"]);
});

async function serveEcho(loops = LOOPS): Promise<TestEngine> {
  const proxy = await TestEngine.start({ loops });
  const { port } = await startServer(echo);
  await proxy.engine.apply(tlsConfigOf([port], [pair]));
  return proxy;
}

/** Says a word, hears it, and ends properly: what is cut off is not resumed. */
async function talk(client: TLSSocket): Promise<void> {
  client.write("x");
  await once(client, "data");
  client.end();
  await once(client.resume(), "close");
}

/** A session that can be resumed. */
async function sessionOf(port: number, options: ConnectionOptions = {}): Promise<Buffer> {
  const client = await dialTls(port, options);
  const told = client.getProtocol() === "TLSv1.3" ? once(client, "session") : undefined;
  const known = client.getSession();
  await talk(client);
  const session: Buffer | undefined = told === undefined ? known : (await told)[0];
  if (session === undefined) throw new Error("no session");
  return session;
}

/** How many of so many connections resume the session; enough for every loop to have some. */
async function resumedOf(port: number, session: Buffer, options: ConnectionOptions = {}) {
  const times = 16;
  let resumed = 0;
  for (let count = 0; count < times; count += 1) {
    const client = await dialTls(port, { ...options, session });
    if (client.isSessionReused()) resumed += 1;
    await talk(client);
  }
  return resumed / times;
}

describe("TLS sessions", requires("linux"), () => {
  test.each<[string, ConnectionOptions]>([
    ["TLS 1.3", {}],
    ["TLS 1.2", V12],
  ])("%s: tickets of one loop are good for all", async (_name, options) => {
    const proxy = await serveEcho();
    const session = await sessionOf(proxy.port(), options);
    expect(await resumedOf(proxy.port(), session, options)).toBe(1);
  });

  test("a client of TLS 1.2 that knows no tickets resumes by its session's id", async () => {
    const proxy = await serveEcho(1);
    const options = { ...V12, secureOptions: constants.SSL_OP_NO_TICKET };
    const session = await sessionOf(proxy.port(), options);
    expect(await resumedOf(proxy.port(), session, options)).toBe(1);
  });

  test("a session of one listener is none of another", async () => {
    const proxy = await TestEngine.start();
    const { port } = await startServer(echo);
    const open = tlsConfigOf([port], [pair]);
    const clientCaPem = authority.certPem;
    const [first] = open.listeners;
    if (first?.tls === undefined) throw new Error("no listener");
    const closed = listenerOf({ key: "closed", tls: { ...first.tls, clientCaPem } });
    await proxy.engine.apply({ ...open, listeners: [first, closed] });
    const session = await sessionOf(proxy.port("web"));
    const client = await dialTls(proxy.port("closed"), { session });
    expect(client.isSessionReused()).toBe(false);
    // Without a certificate of its own it stays outside.
    await expect(once(client, "data")).rejects.toThrow();
  });

  test("sessions outlive a change of their listener", async () => {
    const proxy = await serveEcho();
    const session = await sessionOf(proxy.port());
    const { port } = await startServer(echo);
    await proxy.engine.apply(tlsConfigOf([port], [pair], { listener: { idleTimeoutMs: 5000 } }));
    expect(await resumedOf(proxy.port(), session)).toBe(1);
  });

  test("a session of a certificate that was replaced is not resumed", async () => {
    const proxy = await serveEcho();
    const session = await sessionOf(proxy.port());
    const { port } = await startServer(echo);
    await proxy.engine.apply(tlsConfigOf([port], [await authority.issue(["a.example"])]));
    expect(await resumedOf(proxy.port(), session)).toBe(0);
  });

  test("openssl resumes as well", requires("openssl"), async () => {
    const proxy = await serveEcho();
    const where = `${LOCAL}:${proxy.port()}`;
    const args = [
      "s_client",
      "-connect",
      where,
      "-tls1_2",
      "-reconnect",
      "-servername",
      "a.example",
    ];
    const child = run("openssl", args);
    child.child.stdin?.end();
    const { stdout } = await child;
    expect(stdout.match(/^Reused, TLSv1\.2/gm)).toHaveLength(5);
  });
});
