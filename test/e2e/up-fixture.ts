import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Result } from "../../src/control/result.ts";
import { keyOf } from "../../src/core/model/object.ts";
import { callInstance } from "../../src/daemon/instance-socket/client.ts";
import { instancePath } from "../../src/daemon/presence.ts";
import { type CliOptions, type CliProcess, startCli } from "../support/cli.ts";

/** Nothing that two tests could both want. */
export const NO_PORTS: readonly string[] = [
  "--resp-listen",
  "off",
  "--http-listen",
  "off",
  "--metrics-listen",
  "off",
  "--health-listen",
  "off",
];

export function makeStateFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "portolan-up-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "state");
}

/** A running `portolan up`. */
export interface Up {
  readonly cli: CliProcess;
  /** Gives a command as the console does. */
  command(line: string): Promise<Result>;
  /** The keys of all objects of a kind. */
  keys(kind: "Group" | "Listener" | "Service" | "Endpoint"): Promise<readonly string[]>;
}

/** Starts it and waits until it takes commands. */
export async function startUp(
  state: string,
  args: readonly string[] = [],
  options: CliOptions = {},
): Promise<Up> {
  const cli = startCli(["up", "--state", state, ...args], options);
  await untilUp(cli, state);
  const path = instancePath(state);
  return {
    cli,
    command: async (line) => (await callInstance(path, "command", { line })).result,
    keys: async (kind) =>
      (await callInstance(path, "get", { kinds: [kind] })).objects.map(({ object }) =>
        keyOf(object),
      ),
  };
}

/** The log says it, and the socket answers. */
async function untilUp(cli: CliProcess, state: string): Promise<void> {
  await cli.waitFor(/what commands make is kept in/, "stderr");
  await callInstance(instancePath(state), "complete", { line: "" });
}
