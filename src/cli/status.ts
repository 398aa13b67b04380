import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { INSTANCE_OPTIONS } from "../daemon/options.ts";
import { instancePath } from "../daemon/presence.ts";
import { askStatus } from "./ask-status.ts";
import type { CliContext, CommandInput, CommandSpec } from "./command-spec.ts";
import { EXIT_FAILED, EXIT_OK } from "./exit-codes.ts";
import { JSON_OPTION, resolveFlags } from "./flags.ts";
import { listenForInterruption } from "./interruption.ts";
import { instanceHealth } from "./status/instance-health.ts";
import { renderStatus } from "./status/render-status.ts";
import type { Sample } from "./status/sample.ts";
import { paintFor } from "./text/paint.ts";

const { state } = INSTANCE_OPTIONS;

const STATUS_OPTIONS = {
  watch: { kind: "boolean", help: "again every second, until Ctrl-C" },
  all: { kind: "boolean", help: "also what is not honoured on this machine whatever is asked for" },
} as const;

const PERIOD_MS = 1000;
/** Of ECMA-48: the cursor home, and nothing after it. */
const CLEAR = "\u001b[H\u001b[J";

export const STATUS: CommandSpec = {
  name: "status",
  summary: "say how the running instance is, and what it serves",
  description:
    "The exit code is 0 where the instance is healthy, 1 where it is not or still starts, 4 where none runs. That a server is down is no illness of the instance.",
  arguments: [],
  optionGroups: [
    { title: "Output", specs: { ...STATUS_OPTIONS, ...JSON_OPTION } },
    { title: "Instance", specs: { state } },
  ],
  examples: [
    { help: "what runs here", command: "status" },
    { help: "for a script", command: "status --json" },
    { help: "with what comes a second, until Ctrl-C", command: "status --watch" },
  ],
  run: tell,
};

async function tell(input: CommandInput): Promise<number> {
  const { watch, all, state: folder } = resolveFlags({ ...STATUS_OPTIONS, state }, input);
  const { json } = resolveFlags(JSON_OPTION, input);
  const path = instancePath(folder);
  const { context } = input;
  const show = (now: Sample, before?: Sample): void => {
    const lines = json
      ? [JSON.stringify(now.status)]
      : renderStatus({ now, before, all, paint: paintFor(context) });
    context.stdout.write(lines.map((line) => `${line}\n`).join(""));
  };
  if (watch) return repeat(path, context, { show, isBare: json });
  const now = await askStatus(path);
  show(now);
  return instanceHealth(now.status) === "healthy" ? EXIT_OK : EXIT_FAILED;
}

async function repeat(
  path: string,
  { stdout }: CliContext,
  how: { show: (now: Sample, before?: Sample) => void; readonly isBare: boolean },
): Promise<number> {
  const interruption = listenForInterruption(process, stdout);
  let before: Sample | undefined;
  try {
    while (!interruption.signal.aborted) {
      const now = await askStatus(path);
      if (!how.isBare)
        stdout.write(stdout.isTTY === true ? CLEAR : before === undefined ? "" : "\n");
      how.show(now, before);
      before = now;
      await delay(PERIOD_MS, undefined, { signal: interruption.signal }).catch(() => undefined);
    }
    return interruption.exitCode();
  } finally {
    interruption.dispose();
  }
}
