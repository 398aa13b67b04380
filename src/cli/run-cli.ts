import { CommanderError } from "commander";
import { buildProgram } from "./build-program.ts";
import type { CliContext } from "./command-spec.ts";
import { findCommand, loadCommands } from "./commands.ts";
import { EXIT_FAILED, EXIT_OK, EXIT_USAGE, exitCodeOf } from "./exit-codes.ts";
import { unknownVariables } from "./unknown-variables.ts";

/** As every program has it. */
const VERSION_FLAGS: ReadonlySet<string | undefined> = new Set(["--version", "-V"]);

/** Runs one command line; all that goes wrong ends as lines on standard error and an exit code. */
export async function runCli(argv: readonly string[], context: CliContext): Promise<number> {
  try {
    return await parseAndRun(argv, context);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_OK : EXIT_USAGE;
    printError(error, argv, context);
    return exitCodeOf(error);
  }
}

async function parseAndRun(words: readonly string[], context: CliContext): Promise<number> {
  const argv = VERSION_FLAGS.has(words[0]) ? ["version", ...words.slice(1)] : words;
  const load = findCommand(argv);
  const specs = load === undefined ? await loadCommands() : [await load()];
  for (const line of await unknownVariables(context.environment, specs, loadCommands)) {
    context.stderr.write(`portolan: ${line}\n`);
  }
  let exitCode = EXIT_FAILED;
  const program = buildProgram(specs, {
    context,
    loadCommands,
    onExit: (code) => {
      exitCode = code;
    },
  });
  await program.parseAsync(argv, { from: "user" });
  return exitCode;
}

function printError(error: unknown, argv: readonly string[], context: CliContext): void {
  const wantsStack =
    context.environment["DEBUG"] !== undefined ||
    context.environment["PORTOLAN_LOG_LEVEL"] === "debug" ||
    /--log-level[ =]debug\b/.test(argv.join(" "));
  const isError = error instanceof Error;
  const text = isError ? (wantsStack ? (error.stack ?? error.message) : error.message) : error;
  const lines = String(text).split("\n");
  context.stderr.write(lines.map((line) => `portolan: ${line}\n`).join(""));
}
