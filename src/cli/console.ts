import { dirname, join } from "node:path";
import process from "node:process";
import { runConsole } from "../control/console/run-console.ts";
import { runScript } from "../control/console/script-console.ts";
import { callInstance } from "../daemon/instance-socket/client.ts";
import { INSTANCE_OPTIONS } from "../daemon/options.ts";
import { instancePath } from "../daemon/presence.ts";
import type { CommandInput, CommandSpec } from "./command-spec.ts";
import { connectConsole } from "./console/connect-console.ts";
import { JSON_OPTION, resolveFlags } from "./flags.ts";
import { NO_PAINT, paintFor } from "./text/paint.ts";

const { state } = INSTANCE_OPTIONS;
const HISTORY_NAME = "console-history";

const CONSOLE_OPTIONS = {
  execute: {
    kind: "list",
    short: "e",
    placeholder: "COMMAND",
    help: "give this command and end; may be repeated",
  },
} as const;

export const CONSOLE: CommandSpec = {
  name: "console",
  summary: "give commands to the running instance",
  description:
    "On a terminal with history and completion (Tab); what happens in the instance is shown meanwhile. In a pipe a command a line, without a prompt; lines that begin with # are skipped. `man` explains the commands, `exit` or Ctrl-D ends. Exit code 1 where a command has failed, 2 where only its words were wrong.",
  arguments: [],
  optionGroups: [
    { title: "Commands", specs: CONSOLE_OPTIONS },
    { title: "Instance", specs: { state } },
    { title: "Output", specs: JSON_OPTION },
  ],
  examples: [
    { help: "type commands", command: "console" },
    { help: "one command", command: 'console -e "list-detail tcp-lb"' },
    {
      help: "those of a file, results as JSON, one a line",
      command: "console --json < commands.txt",
    },
  ],
  run: runConsoleCommand,
};

async function runConsoleCommand(input: CommandInput): Promise<number> {
  const { context } = input;
  const { stdout: output, stderr: errors } = context;
  const { json } = resolveFlags(JSON_OPTION, input);
  const { execute, state: folder } = resolveFlags({ ...CONSOLE_OPTIONS, state }, input);
  const path = instancePath(folder);
  // One that is not there is told once, before anything is typed.
  const { version, pid, node } = await callInstance(path, "status", {});
  const ending = new AbortController();
  const session = connectConsole(path, { pid: process.pid, signal: ending.signal });
  try {
    if (execute.length > 0 || context.stdin === undefined) {
      return await runScript(execute, { session, output, errors, json, isNumbered: false });
    }
    const isTerminal = context.stdin.isTTY === true && output.isTTY === true;
    if (isTerminal && !json) {
      output.write(`portolan ${version} on ${node} (pid ${pid}); man explains, exit ends\n`);
    }
    return await runConsole({
      input: context.stdin,
      output,
      errors,
      isTerminal,
      hasColours: paintFor(context) !== NO_PAINT,
      session: isTerminal && !json ? session : { run: session.run, complete: session.complete },
      json,
      historyFile: join(dirname(path), HISTORY_NAME),
    });
  } finally {
    ending.abort();
  }
}
