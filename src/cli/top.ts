import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { INSTANCE_OPTIONS } from "../daemon/options.ts";
import { instancePath } from "../daemon/presence.ts";
import { askStatus } from "./ask-status.ts";
import type { CommandInput, CommandSpec } from "./command-spec.ts";
import { EXIT_OK } from "./exit-codes.ts";
import { resolveFlags } from "./flags.ts";
import { listenForInterruption } from "./interruption.ts";
import { paintFor } from "./text/paint.ts";
import { runLiveTop } from "./top/live-top.ts";
import { renderFrame } from "./top/render-frame.ts";
import { sizeOf } from "./top/screen.ts";
import { SORT_KEYS } from "./top/top-rows.ts";

const { state } = INSTANCE_OPTIONS;

const TOP_OPTIONS = {
  sort: {
    kind: "enum",
    values: SORT_KEYS,
    default: "connections",
    help: "what comes first; keys change it: c, n, b, f, a",
  },
  once: { kind: "boolean", help: "print one frame, of one second; so it is without a terminal" },
} as const;

const PERIOD_MS = 1000;

export const TOP: CommandSpec = {
  name: "top",
  summary: "watch the traffic of the running instance in the terminal",
  description:
    "Listeners and servers with their connections, what comes new and how many bytes pass a second; event loops with what is open in them. q or Ctrl-C ends it.",
  arguments: [],
  optionGroups: [
    { title: "Output", specs: TOP_OPTIONS },
    { title: "Instance", specs: { state } },
  ],
  examples: [
    { help: "live", command: "top" },
    { help: "a look, with the most bytes first", command: "top --once --sort bytes" },
  ],
  run: top,
};

async function top(input: CommandInput): Promise<number> {
  const { sort, once, state: folder } = resolveFlags({ ...TOP_OPTIONS, state }, input);
  const { stdout, stdin } = input.context;
  const path = instancePath(folder);
  const paint = paintFor(input.context);
  const ask = () => askStatus(path);
  const isTerminal = stdout.isTTY === true;
  if (once || !isTerminal) {
    const before = await ask();
    await delay(PERIOD_MS);
    const now = await ask();
    const columns = isTerminal ? sizeOf(stdout).columns : Number.POSITIVE_INFINITY;
    const view = { now, before, sort, paint, columns, rows: undefined, isLive: false };
    stdout.write(
      renderFrame(view)
        .map((line) => `${line}\n`)
        .join(""),
    );
    return EXIT_OK;
  }
  const interruption = listenForInterruption(process, stdout);
  try {
    await runLiveTop({
      stdout,
      stdin,
      paint,
      sort,
      periodMs: PERIOD_MS,
      ask,
      signal: interruption.signal,
      onExit: (restore) => void process.once("exit", restore),
    });
    return interruption.exitCode();
  } finally {
    interruption.dispose();
  }
}
