import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { callInstance } from "../../src/daemon/instance-socket/client.ts";
import { instancePath } from "../../src/daemon/presence.ts";
import { requires } from "../support/requires.ts";
import { makeStateFolder, NO_PORTS, startUp } from "./up-fixture.ts";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const FULL_AFTER_KIB = 8;

describe("portolan up as a service", requires("linux"), () => {
  test("says when it is ready, that it is well, and that it ends", async () => {
    const { DatagramReceiver } = await import("../../src/platform/linux/unix-datagram.fixture.ts");
    const state = makeStateFolder();
    const name = `@portolan-test-${process.pid}`;
    const receiver = new DatagramReceiver(name);
    onTestFinished(() => receiver.close());
    const up = await startUp(state, [...NO_PORTS, "--to", "print"], {
      env: { NOTIFY_SOCKET: name, WATCHDOG_USEC: "200000" },
    });
    await receiver.until("READY=1");
    await receiver.until("WATCHDOG=1");
    await up.cli.stop();
    await receiver.until("STOPPING=1");
  });

  test("a disk that is full: commands are refused, and nothing of them is there", async () => {
    const state = makeStateFolder();
    const args = ["up", "--state", state, ...NO_PORTS, "--to", "print", "--log-level", "silent"];
    // Files may have so many blocks of 1,024 bytes; the signal that says so is not listened for.
    const script = `ulimit -f ${FULL_AFTER_KIB}; trap '' XFSZ; exec "$@"`;
    const child = spawn("bash", ["-c", script, "bash", process.execPath, MAIN, ...args], {
      stdio: "ignore",
    });
    onTestFinished(async () => {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    });
    const path = instancePath(state);
    await untilAnswers(path);
    const made: string[] = [];
    let refusal: unknown;
    for (let count = 0; refusal === undefined && count < 100; count += 1) {
      const line = `add server-group g${count}`;
      await callInstance(path, "command", { line }).then(
        () => made.push(`g${count}`),
        (error: unknown) => {
          refusal = error;
        },
      );
    }
    expect(refusal).toMatchObject({
      code: "ERR_JOURNAL",
      message: expect.stringContaining(join(state, "journal.jsonl")),
    });
    const list = async (): Promise<unknown> =>
      (await callInstance(path, "command", { line: "list server-group" })).result;
    expect(await list()).toMatchObject({ names: expect.toSatisfy(hasJust(made)) });
    child.kill("SIGKILL");
    await once(child, "exit");
    const again = await startUp(state, [...NO_PORTS, "--to", "print"]);
    expect(await again.command("list server-group")).toMatchObject({
      names: expect.toSatisfy(hasJust(made)),
    });
    await again.command("add server-group room");
  });
});

function hasJust(names: readonly string[]): (found: readonly string[]) => boolean {
  return (found) => [...found].sort().join() === [...names].sort().join();
}

async function untilAnswers(path: string): Promise<void> {
  for (;;) {
    const isUp = await callInstance(path, "complete", { line: "" }).then(
      () => true,
      () => false,
    );
    if (isUp) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
