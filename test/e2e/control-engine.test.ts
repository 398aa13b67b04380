import { describe, expect, test } from "vitest";
import type { Result } from "../../src/control/result.ts";
import { LineClient } from "../support/line-client.ts";
import { freePort, startNamedServer } from "../support/named-server.ts";
import { requires } from "../support/requires.ts";
import { makeStateFolder, NO_PORTS, startUp, type Up } from "./up-fixture.ts";

function namesOf(result: Result): readonly string[] {
  return result.kind === "names" ? result.names : [];
}

function numberOf(result: Result): number {
  return result.kind === "number" ? result.value : -1;
}

/** A balancer with one server, and a client of it that is connected. */
async function startServing(
  up: Up,
): Promise<{ readonly port: number; readonly client: LineClient }> {
  const server = await startNamedServer("a");
  const port = await freePort();
  for (const line of [
    "add server-group g0 timeout 500 period 100 up 1 down 1",
    `add server s1 to server-group g0 address 127.0.0.1:${server.port}`,
    "add upstream u0",
    "add server-group g0 to upstream u0",
    `add tcp-lb lb0 address 127.0.0.1:${port} upstream u0`,
  ]) {
    await up.command(line);
  }
  const health = async (): Promise<unknown> => {
    const result = await up.command("list-detail server in server-group g0");
    return result.kind === "records" ? result.records[0]?.["health"] : undefined;
  };
  await expect.poll(health, { timeout: 10_000 }).toBe("up");
  const client = await LineClient.open(port);
  expect(await client.line()).toBe("a");
  return { port, client };
}

describe("what runs in an instance", requires("linux"), () => {
  test("is seen, counted and closed by commands", async () => {
    const up = await startUp(makeStateFolder(), [...NO_PORTS, "--loops", "1"]);
    const { port, client } = await startServing(up);
    expect(await client.ask("hello")).toBe("hello");
    expect(numberOf(await up.command("list bytes-in in tcp-lb lb0"))).toBe(6);
    expect(numberOf(await up.command("list bytes-out in server s1 in server-group g0"))).toBe(8);
    expect(numberOf(await up.command("list accepted-conn-count in tcp-lb lb0"))).toBe(1);
    expect(namesOf(await up.command("list server-sock in tcp-lb lb0"))).toEqual([
      `127.0.0.1:${port}`,
    ]);
    const [session = ""] = namesOf(await up.command("list session in event-loop worker-1"));
    expect(session).toMatch(`127.0.0.1:${port}/127.0.0.1:`);
    expect(namesOf(await up.command("list connection in tcp-lb lb0"))).toHaveLength(2);
    await up.command(`remove session ${session} from tcp-lb lb0`);
    await client.closed;
    expect(namesOf(await up.command("list connection in tcp-lb lb0"))).toEqual([]);
    await up.cli.stop("SIGTERM");
  });

  test("loops that commands made serve listeners, and are there again after a restart", async () => {
    const state = makeStateFolder();
    const args = [...NO_PORTS, "--loops", "1", "--drain-timeout", "100ms"];
    const up = await startUp(state, args);
    const { port, client } = await startServing(up);
    await up.command("add event-loop-group elg0");
    await up.command("add event-loop el0 to event-loop-group elg0");
    await up.command("update tcp-lb lb0 event-loop-group elg0");
    expect(await client.ask("who was there stays")).toBe("who was there stays");
    const other = await LineClient.open(port);
    expect(await other.line()).toBe("a");
    const inLoop = "list session in event-loop el0 in event-loop-group elg0";
    expect(namesOf(await up.command(inLoop))).toHaveLength(1);
    await expect(up.command("remove event-loop-group elg0")).rejects.toMatchObject({
      code: "ERR_IN_USE",
    });
    await up.cli.stop("SIGTERM");
    const again = await startUp(state, args);
    expect(namesOf(await again.command("list event-loop in event-loop-group elg0"))).toEqual([
      "el0",
    ]);
    const calls = async (): Promise<string | undefined> =>
      (await LineClient.open(port)).line().catch(String);
    await expect.poll(calls, { timeout: 10_000 }).toBe("a");
    await again.command("force-remove event-loop-group elg0");
    expect(await calls()).toBe("a");
    await again.cli.stop("SIGTERM");
  });
});
