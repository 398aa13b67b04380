import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type CliProcess, startCli } from "../support/cli.ts";
import { LineClient } from "../support/line-client.ts";
import { freePort, startNamedServer } from "../support/named-server.ts";
import { requires } from "../support/requires.ts";
import { makeFolder, PASSWORD } from "./websocks-fixture.ts";

const SERVES = /"msg":"serving /;

/** One end of tunnels, and those that take its place. */
class EndOfTunnels {
  readonly #args: readonly string[];
  running: CliProcess;

  constructor(args: readonly string[]) {
    this.#args = args;
    this.running = this.#start();
  }

  /** @returns the process before, which has given way */
  async takeOver(): Promise<CliProcess> {
    const old = this.running;
    this.running = this.#start("--take-over");
    await this.running.waitFor(SERVES, "stderr");
    await old.waitFor(/another process has taken over/, "stderr");
    return old;
  }

  #start(...more: readonly string[]): CliProcess {
    const env = { PORTOLAN_WEBSOCKS_PASSWORD: PASSWORD };
    return startCli(["websocks", ...this.#args, "--loops", "1", ...more], { env });
  }
}

/** A tunnel to a server that says its name. */
async function openTunnel(agent: number, target: number): Promise<LineClient> {
  const client = await LineClient.open(agent);
  const head = `CONNECT 127.0.0.1:${target} HTTP/1.1\r\nHost: 127.0.0.1:${target}\r\n\r`;
  expect(await client.ask(head)).toMatch(/^HTTP\/1.1 200 /);
  let line = await client.line();
  while (line !== undefined && line !== "target") line = await client.line();
  expect(line).toBe("target");
  return client;
}

describe("--take-over of either end of tunnels", requires("linux"), () => {
  test("tunnels that stand go on to their end in the old process, new ones are the new one's", async () => {
    const folder = makeFolder();
    const target = await startNamedServer("target");
    const [serverPort, agentPort] = [await freePort(), await freePort()];
    const server = new EndOfTunnels([
      ...["server", "--listen", String(serverPort), "--user", "alice"],
      ...["--state", join(folder, "server")],
    ]);
    await server.running.waitFor(SERVES, "stderr");
    const agent = new EndOfTunnels([
      ...["agent", "--listen", String(agentPort), "--server", `ws://alice@127.0.0.1:${serverPort}`],
      ...["--pool", "2", "--state", join(folder, "agent")],
    ]);
    await agent.running.waitFor(/"msg":"a server is up"/, "stderr");
    for (const end of [server, agent, server]) {
      const held = await openTunnel(agentPort, target.port);
      expect(await held.ask("before")).toBe("before");
      const old = await end.takeOver();
      expect(await held.ask("after")).toBe("after");
      held.end();
      await held.closed;
      // It waits for nobody else: connections that were kept ready it has closed.
      expect(await old.ended()).toMatchObject({ code: 0 });
      const fresh = await openTunnel(agentPort, target.port);
      expect(await fresh.ask("fresh")).toBe("fresh");
      fresh.end();
    }
  }, 120_000);
});
