import { describe, expect, test } from "vitest";
import { callInstance } from "../../src/daemon/instance-socket/client.ts";
import { instancePath } from "../../src/daemon/presence.ts";
import { runCli } from "../support/cli.ts";
import { LineClient } from "../support/line-client.ts";
import { freePort, startNamedServer } from "../support/named-server.ts";
import { requires } from "../support/requires.ts";
import { makeStateFolder, startUp } from "./up-fixture.ts";

describe("portolan up --take-over", requires("linux"), () => {
  test("goes on with what commands made, and takes the commands from then on", async () => {
    const state = makeStateFolder();
    const [port, resp, metrics] = [await freePort(), await freePort(), await freePort()];
    const server = await startNamedServer("s1");
    const args = [
      ...["--loops", "1", "--drain-timeout", "100ms", "--http-listen", "off"],
      ...["--resp-listen", String(resp), "--metrics-listen", String(metrics)],
      ...["--health-listen", "off"],
    ];
    const first = await startUp(state, args);
    for (const line of [
      "add event-loop-group more",
      "add event-loop more-1 to event-loop-group more",
      "add upstream u0",
      "add server-group g0 protocol none",
      `add server s1 to server-group g0 address 127.0.0.1:${server.port}`,
      "add server-group g0 to upstream u0 weight 10",
      `add tcp-lb lb0 address 127.0.0.1:${port} upstream u0 event-loop-group more`,
    ]) {
      await first.command(line);
    }
    const call = async (): Promise<string | undefined> => (await LineClient.open(port)).line();
    expect(await call()).toBe("s1");

    // One that fails on the way: the first goes on, and takes commands again.
    const failed = await runCli([
      ...["up", "--state", state, ...args, "--take-over"],
      ...["--from", "file:/nowhere/state.yaml"],
    ]);
    expect(failed.code).toBe(3);
    await first.command("add server-group after");
    expect(await call()).toBe("s1");

    const second = await startUp(state, [...args, "--take-over"]);
    expect(await first.cli.ended()).toMatchObject({ code: 0 });
    await second.cli.waitFor(/takes commands by RESP on /, "stderr");
    expect((await callInstance(instancePath(state), "status", {})).pid).toBe(second.cli.pid);
    expect(await call()).toBe("s1");
    expect(await second.keys("Group")).toEqual(["default/after", "default/g0"]);
    expect(await second.command("list event-loop in event-loop-group more")).toEqual({
      kind: "names",
      names: ["more-1"],
    });
    await second.command("add server-group later");
    await second.cli.stop();
    const third = await startUp(state, args);
    expect(await third.keys("Group")).toEqual(["default/after", "default/g0", "default/later"]);
  }, 120_000);
});
