import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type CliProcess, runCli, startCli } from "../support/cli.ts";
import { freePort } from "../support/named-server.ts";
import { seededRandom } from "../support/seeded-random.ts";

const SECRET = { PORTOLAN_KCPTUN_SECRET: "a secret for the tests" };
const BODY = Buffer.alloc(300_000, "0123456789abcdef");
const IS_UP = /"msg":"a server is up"/;
const IS_DOWN = /"msg":"a server is down"/;

/** @param onAnswered all of an answer was taken by who asked */
async function startTarget(onAnswered: () => void = () => undefined): Promise<number> {
  const server = createServer((_, response) => response.end(BODY).once("close", onAnswered));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.closeAllConnections());
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Passes datagrams of one client on, but for some, and after a while. */
async function startLine(
  to: number,
  { lossRate = 0, delayMs = 0 }: { readonly lossRate?: number; readonly delayMs?: number },
): Promise<number> {
  const random = seededRandom(3);
  const [front, back] = [createSocket("udp4"), createSocket("udp4")];
  let isOpen = true;
  onTestFinished(() => {
    isOpen = false;
    front.close();
    back.close();
  });
  let client: RemoteInfo | undefined;
  const pass = (socket: Socket, bytes: Buffer, port: number): void => {
    if (random() < lossRate) return;
    if (delayMs === 0) socket.send(bytes, port, "127.0.0.1");
    else setTimeout(() => isOpen && socket.send(bytes, port, "127.0.0.1"), delayMs);
  };
  front.on("message", (bytes, from) => {
    client = from;
    pass(back, bytes, to);
  });
  back.on("message", (bytes) => client && pass(front, bytes, client.port));
  back.bind(0, "127.0.0.1");
  front.bind(0, "127.0.0.1");
  await once(front, "listening");
  return front.address().port;
}

async function folderFor(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `portolan-${name}-`));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function startServer(port: number, target: number, provider: string) {
  const state = await folderFor("kcptun-server");
  return startCli(
    [
      ...["kcptun", "server", "--listen", `127.0.0.1:${port}`, "--target", `127.0.0.1:${target}`],
      ...["--loops", "1", "--provider", provider, "--state", state],
    ],
    { env: SECRET },
  );
}

async function startClient(
  { port, server, metrics }: Readonly<Record<"port" | "server" | "metrics", number>>,
  provider: string,
  env: typeof SECRET,
) {
  const state = await folderFor("kcptun-client");
  return startCli(
    [
      ...["kcptun", "client", "--listen", `127.0.0.1:${port}`, "--server", `127.0.0.1:${server}`],
      ...["--loops", "1", "--provider", provider, "--state", state],
      ...["--metrics-listen", `127.0.0.1:${metrics}`],
    ],
    { env },
  );
}

async function download(port: number): Promise<Buffer> {
  const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: "close" } });
  return Buffer.from(await response.arrayBuffer());
}

/** Of a client that says at once that it has no more to say. */
async function downloadAfterEnd(port: number): Promise<Buffer> {
  const socket = connect(port, "127.0.0.1").end("GET / HTTP/1.0\r\n\r\n");
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  const all = Buffer.concat(chunks);
  return all.subarray(all.indexOf("\r\n\r\n") + 4);
}

test.each(["posix", "node"])(
  "downloads pass a lossy line whole, also after the server was killed (%s)",
  { timeout: 90_000 },
  async (provider) => {
    const target = await startTarget();
    const [udp, tcp] = [await freePort(), await freePort()];
    const line = await startLine(udp, { lossRate: 0.05 });
    const server = await startServer(udp, target, provider);
    await server.waitFor(IS_UP, "stderr");
    const metrics = await freePort();
    const client = await startClient({ port: tcp, server: line, metrics }, provider, SECRET);
    await client.waitFor(IS_UP, "stderr");
    const bodies = await Promise.all([download(tcp), download(tcp), download(tcp)]);
    for (const body of bodies) expect(body.equals(BODY)).toBe(true);
    const counted = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
    expect(counted).toMatch(/^portolan_tunnels\{.*\} 1$/m);
    expect(counted).toMatch(/^portolan_tunnel_datagrams_in_total\{.*\} [1-9]\d\d/m);
    await server.stop("SIGKILL");
    const again = await startServer(udp, target, provider);
    await again.waitFor(IS_UP, "stderr");
    // The client learns it with its next check, or the next connection.
    await expect
      .poll(() => download(tcp).catch(() => BODY.subarray(1)), { timeout: 30_000 })
      .toEqual(BODY);
  },
);

test.each([
  ["posix", "that listens", download],
  ["posix", "that has ended", downloadAfterEnd],
  ["node", "that has ended", downloadAfterEnd],
] as const)(
  "a server that is told to end does so when what it has taken has arrived (%s, a client %s)",
  async (provider, _, get) => {
    let server: CliProcess | undefined;
    const target = await startTarget(() => server?.kill("SIGTERM"));
    const [udp, tcp] = [await freePort(), await freePort()];
    const line = await startLine(udp, { delayMs: 200 });
    server = await startServer(udp, target, provider);
    await server.waitFor(IS_UP, "stderr");
    const metrics = await freePort();
    const client = await startClient({ port: tcp, server: line, metrics }, provider, SECRET);
    await client.waitFor(IS_UP, "stderr");
    expect((await get(tcp)).equals(BODY)).toBe(true);
    expect((await server.ended()).code).toBe(0);
  },
);

test("with another secret nobody is there, and the client says so", async () => {
  const target = await startTarget();
  const [udp, tcp] = [await freePort(), await freePort()];
  const server = await startServer(udp, target, "posix");
  await server.waitFor(IS_UP, "stderr");
  const metrics = await freePort();
  const client = await startClient({ port: tcp, server: udp, metrics }, "posix", {
    PORTOLAN_KCPTUN_SECRET: "another secret, which is wrong",
  });
  await client.waitFor(IS_DOWN, "stderr");
  await expect(download(tcp)).rejects.toThrow();
});

test("without a secret it does not start, and a short one is refused", async () => {
  const args = ["kcptun", "client", "--listen", "127.0.0.1:1", "--server", "127.0.0.1:2"];
  const without = await runCli(args);
  expect(without.code).toBe(2);
  expect(without.stderr).toContain("--secret-file: missing");
  const state = await folderFor("kcptun-short");
  const env = { PORTOLAN_KCPTUN_SECRET: "short" };
  const short = await runCli([...args, "--state", state], { env });
  expect(short.code).toBe(3);
  expect(short.stderr).toContain("expected at least 16");
  const path = join(state, "no-such-file");
  const unread = await runCli([...args, "--state", state, "--secret-file", path]);
  expect(unread.code).toBe(3);
  expect(unread.stderr).toContain(`the secret file of KCP tunnels, ${path}: can not be read`);
});
