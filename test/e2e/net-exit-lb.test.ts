import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type CliProcess, startCli } from "../support/cli.ts";
import { callTimes, LineClient } from "../support/line-client.ts";
import { freePort, startNamedServer } from "../support/named-server.ts";
import { requires } from "../support/requires.ts";

const PRELOAD = new URL("./net-exit-lb.preload.mjs", import.meta.url).href;

interface Faulty {
  readonly cli: CliProcess;
  readonly port: number;
  /** Has something go wrong: in `main`, or in the first `loop` that turns. */
  fail(what: string): void;
}

/** `portolan lb` as it is shipped, with one loop and a server. */
async function startFaulty(): Promise<Faulty> {
  const folder = mkdtempSync(join(tmpdir(), "portolan-exit-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "fault");
  writeFileSync(file, "");
  const server = await startNamedServer("a");
  const port = await freePort();
  const args = ["--listen", String(port), "--servers", `127.0.0.1:${server.port}`, "--loops", "1"];
  const cli = startCli(["lb", ...args], {
    env: {
      NODE_OPTIONS: `--import ${PRELOAD} --max-old-space-size=120`,
      NET_EXIT_FAULT: file,
    },
  });
  await cli.waitFor(/"msg":"a server is up"/, "stderr");
  return { cli, port, fail: (what) => writeFileSync(file, what) };
}

/** How many sockets a process has open. */
function socketsOf(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((name) => {
    try {
      return readlinkSync(join(folder, name)).startsWith("socket:");
    } catch {
      // It was closed in the meantime.
      return false;
    }
  }).length;
}

describe("portolan lb", requires("linux"), () => {
  test("an error that nobody caught ends it, although its loop is blocked", async () => {
    const { cli, fail } = await startFaulty();
    fail("main throw");
    const { code, stderr } = await cli.ended();
    expect(code).toBe(1);
    expect(stderr).toMatch(/thrown on purpose.*an error that nobody caught; this is a bug/);
  });

  test.each([
    ["throws", "loop throw", /thrown on purpose/],
    ["ends by itself", "loop exit", /ended by itself \(3\)/],
    ["has no memory left", "loop eat-heap", /memory/],
  ])(
    "a loop that %s is replaced, what it had open is closed, and it ends as ever",
    async (_, fault, reason) => {
      const { cli, port, fail } = await startFaulty();
      const before = socketsOf(cli.pid);
      const clients = await Promise.all(Array.from({ length: 10 }, () => LineClient.open(port)));
      for (const client of clients) expect(await client.line()).toBe("a");
      expect(socketsOf(cli.pid)).toBeGreaterThanOrEqual(before + 2 * clients.length);
      fail(fault);
      const [line] = await cli.waitFor(/.*an event loop died.*/, "stderr");
      expect(line).toMatch(reason);
      for (const client of clients) await client.closed;
      await expect.poll(() => answersOf(port), { timeout: 20_000 }).toBe("a");
      await expect
        .poll(() => socketsOf(cli.pid), { timeout: 20_000 })
        .toBeLessThanOrEqual(before + 2);
      expect(await cli.stop()).toMatchObject({ code: 0 });
    },
  );

  test("a second SIGTERM ends it at once", async () => {
    const { cli, port } = await startFaulty();
    const client = await LineClient.open(port);
    await client.line();
    cli.kill("SIGTERM");
    await cli.waitFor(/"msg":"ending"/, "stderr");
    expect(await cli.stop("SIGTERM")).toMatchObject({ code: 143 });
  });
});

/** Who answers now, if anybody does. */
async function answersOf(port: number): Promise<string> {
  return (await callTimes(port, 1).catch(() => []))[0] ?? "nobody";
}
