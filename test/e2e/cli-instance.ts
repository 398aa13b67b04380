import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { callInstance } from "../../src/daemon/instance-socket/client.ts";
import type { InstanceStatus } from "../../src/daemon/instance-socket/status-protocol.ts";
import {
  type CliOptions,
  type CliProcess,
  type CliResult,
  runCli,
  startCli,
} from "../support/cli.ts";

const LOOK_AGAIN_MS = 50;

/** `portolan up` with a folder of its own, and other commands that speak to it. */
export interface UpInstance {
  readonly folder: string;
  readonly state: string;
  readonly up: CliProcess;
  /** Runs `portolan ARGS` on it, to the end. */
  run(args: readonly string[], options?: CliOptions): Promise<CliResult>;
  /** Starts `portolan ARGS` on it. */
  start(args: readonly string[], options?: CliOptions): CliProcess;
  /** Writes a file beside its state. @returns its path */
  file(name: string, text: string): string;
  /** Waits until it is as wanted. */
  until(isSo: (status: InstanceStatus) => boolean): Promise<InstanceStatus>;
}

export interface UpOptions extends CliOptions {
  readonly args?: readonly string[];
  /** Files of the folder that are there when it starts. */
  readonly files?: Readonly<Record<string, string>>;
}

const NOWHERE_IN_PARTICULAR = [
  "--resp-listen",
  "--http-listen",
  "--metrics-listen",
  "--health-listen",
];

/** Starts one that ends with the test; settles when it is well. */
export async function startUp(options: UpOptions = {}): Promise<UpInstance> {
  const folder = mkdtempSync(join(tmpdir(), "portolan-up-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const state = join(folder, "state");
  const file = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  for (const [name, text] of Object.entries(options.files ?? {})) file(name, text);
  const listen = NOWHERE_IN_PARTICULAR.flatMap((flag) => [flag, "127.0.0.1:0"]);
  const args = ["up", "--state", state, "--loops", "1", ...listen, ...(options.args ?? [])];
  const up = startCli(args, { cwd: folder, ...options });
  const inFolder = { cwd: folder };
  const until: UpInstance["until"] = async (isSo) => {
    for (;;) {
      const status = await callInstance(join(state, "instance.sock"), "status", {}).catch(
        () => undefined,
      );
      if (status !== undefined && isSo(status)) return status;
      const hasEnded = await Promise.race([up.ended().then(() => true), delay(LOOK_AGAIN_MS)]);
      if (hasEnded === true) throw new Error(`portolan up ended:\n${up.stdout}${up.stderr}`);
    }
  };
  await until(({ ready, components }) => {
    return ready && components.some(({ kind, name }) => kind === "source" && name === "control");
  });
  return {
    folder,
    state,
    up,
    file,
    until,
    run: (more, how) => runCli([...more, "--state", state], { ...inFolder, ...how }),
    start: (more, how) => startCli([...more, "--state", state], { ...inFolder, ...how }),
  };
}
