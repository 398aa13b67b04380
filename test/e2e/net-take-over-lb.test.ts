import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type NetConnectOpts } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type CliProcess, runCli, startCli } from "../support/cli.ts";
import { LineClient } from "../support/line-client.ts";
import { freePort, startNamedServer } from "../support/named-server.ts";
import { requires } from "../support/requires.ts";

const CALLERS = 4;
const SERVES = /"msg":"serving /;

function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "portolan-take-over-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** The port of a server that echoes, in TCP and UDP. */
async function startEcho(): Promise<number> {
  const streams = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.pipe(socket);
  }).listen(0, "127.0.0.1");
  await once(streams, "listening");
  const address = streams.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const datagrams = createSocket("udp4").bind(address.port, "127.0.0.1");
  await once(datagrams, "listening");
  datagrams.on("message", (text, from) => datagrams.send(text, from.port, from.address));
  onTestFinished(() => {
    streams.close();
    datagrams.close();
  });
  return address.port;
}

/** Connects, says something and hears it back. */
async function call(where: NetConnectOpts): Promise<void> {
  const socket = connect(where);
  try {
    socket.write("hello");
    const [bytes] = await once(socket, "data");
    if (String(bytes) !== "hello") throw new Error(`heard ${String(bytes)}`);
  } finally {
    socket.destroy();
  }
}

/** Calls again and again; `stop` gives how often, and what went wrong. */
function keepCalling(act: () => Promise<void>) {
  const errors: unknown[] = [];
  let calls = 0;
  let isOver = false;
  const caller = async (): Promise<void> => {
    while (!isOver) {
      await act().catch((error: unknown) => errors.push(error));
      calls += 1;
    }
  };
  const callers = Array.from({ length: CALLERS }, caller);
  return {
    stop: async (): Promise<{ calls: number; errors: unknown[] }> => {
      isOver = true;
      await Promise.all(callers);
      return { calls, errors };
    },
    /** Settles when there were so many more. */
    more: async (count: number): Promise<void> => {
      const enough = calls + count;
      while (calls < enough) await new Promise((resolve) => setTimeout(resolve, 5));
    },
  };
}

/** A UDP client with a socket of its own for each question; one that is not answered is asked again. */
async function askByDatagram(port: number): Promise<void> {
  const socket = createSocket("udp4");
  try {
    socket.connect(port, "127.0.0.1");
    await once(socket, "connect");
    const heard = once(socket, "message");
    const ask = (): void => socket.send("hello");
    const again = setInterval(ask, 200);
    ask();
    await heard.finally(() => clearInterval(again));
  } finally {
    socket.close();
  }
}

describe("a process that takes over", requires("linux"), () => {
  test("gets TCP, UDP and unix sockets; nobody is refused, and the first one ends", async () => {
    const folder = testFolder();
    const echo = await startEcho();
    const [tcp, udp] = [await freePort(), await freePort()];
    const path = join(folder, "web.sock");
    writeFileSync(
      join(folder, "state.yaml"),
      `version: 1
services:
  web: { listen: ["127.0.0.1:${tcp}", "unix:${path}"], servers: ["127.0.0.1:${echo}"] }
  datagrams: { listen: [{ address: "127.0.0.1:${udp}", mode: udp }], servers: ["127.0.0.1:${echo}"] }
`,
    );
    const run = (...more: readonly string[]): CliProcess =>
      startCli([
        ...["run", "--from", `file:${join(folder, "state.yaml")}`, "--to", "userspace"],
        ...["--state", join(folder, "state"), "--loops", "2", ...more],
      ]);
    let running = run();
    await running.waitFor(SERVES, "stderr");
    const load = keepCalling(() => call({ port: tcp, host: "127.0.0.1" }));
    const local = keepCalling(() => call({ path }));
    const datagrams = keepCalling(() => askByDatagram(udp));
    // Twice: the one that took over can be taken over from.
    for (const loops of ["3", "1"]) {
      const held = await LineClient.open(tcp);
      const next = run("--take-over", "--loops", loops);
      await next.waitFor(SERVES, "stderr");
      await running.waitFor(/another process has taken over/, "stderr");
      // What was open lives on in the old one, which waits for it.
      expect(await held.ask("still here")).toBe("still here");
      held.end();
      expect(await running.ended()).toMatchObject({ code: 0 });
      running = next;
      await Promise.all([load.more(CALLERS), local.more(CALLERS), datagrams.more(CALLERS)]);
    }
    for (const calling of [load, local, datagrams]) {
      const { calls, errors } = await calling.stop();
      expect(errors).toEqual([]);
      expect(calls).toBeGreaterThan(CALLERS);
    }
    expect(await running.stop()).toMatchObject({ code: 0 });
  }, 120_000);

  test("leaves the first one alone where it can not serve", async () => {
    const folder = testFolder();
    const server = await startNamedServer("a");
    const [port, taken] = [await freePort(), await startNamedServer("taken")];
    const lb = (...args: readonly string[]): readonly string[] => [
      ...["lb", "--servers", `127.0.0.1:${server.port}`, "--state", folder, ...args],
    ];
    const first = startCli(lb("--listen", String(port)));
    await first.waitFor(SERVES, "stderr");
    const failed = await runCli(lb("--listen", String(taken.port), "--take-over"));
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain(`127.0.0.1:${taken.port}`);
    const client = await LineClient.open(port);
    expect(await client.line()).toBe("a");
    client.end();
    expect(await first.stop()).toMatchObject({ code: 0 });
  });

  test("without one that runs it says where it looked", async () => {
    const folder = testFolder();
    const args = ["--listen", "1", "--servers", "127.0.0.1:1", "--state", folder, "--take-over"];
    const { code, stderr } = await runCli(["lb", ...args]);
    expect(code).toBe(1);
    expect(stderr).toContain(`no instance answers at ${join(folder, "instance.sock")}`);
  });
});
