import { Argument, Command, Option } from "commander";
import type { OptionSpec } from "../core/options/option-spec.ts";
import { COMMAND_FAMILIES } from "./command-families.ts";
import type { CommandInput, CommandSpec } from "./command-spec.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { argumentTerm, optionHelp, optionTerm } from "./option-text.ts";

const DESCRIPTION = "Describe services and their endpoints once; make them true on any data plane.";

const HELP_WIDTH = 120;
/** How the parser begins to tell it. */
const UNKNOWN_COMMAND = "error: unknown command";

const FOOTER = `
Every option is also PORTOLAN_<NAME> in the environment and, for run, a key of the config file;
a flag wins over the environment, the environment over the file.
Exit codes: ${[...EXIT_CODES].map(([code, meaning]) => `${code} ${meaning}`).join(", ")}.`;

/** What commands run with; the exit code of the one that ran is handed to `onExit`. */
export interface Session extends Pick<CommandInput, "context" | "loadCommands"> {
  readonly onExit: (code: number) => void;
}

/** A parser for the commands given. */
export function buildProgram(specs: readonly CommandSpec[], session: Session): Command {
  const { context } = session;
  const program = new Command("portolan")
    .description(DESCRIPTION)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void context.stdout.write(text),
      writeErr: (text) => void context.stderr.write(text),
    })
    .helpCommand("help [command]", "explain a command")
    .showSuggestionAfterError(true)
    .configureHelp({ helpWidth: HELP_WIDTH })
    .addHelpText("after", FOOTER);
  tellMistakes(program);
  for (const spec of specs) addCommand(program, spec, session);
  return program;
}

/** In the words of all others; who mistypes a command is told which there are. */
function tellMistakes(command: Command): Command {
  return command.configureOutput({
    outputError: (text, write) => {
      write(text.replace(/^error: /, "portolan: "));
      if (!text.startsWith(UNKNOWN_COMMAND)) return;
      const names = command.commands.map((one) => one.name());
      write(`There are: ${names.join(", ")}; --help explains them.\n`);
    },
  });
}

function addCommand(program: Command, spec: CommandSpec, session: Session): void {
  const { context, loadCommands, onExit } = session;
  const words = spec.name.split(" ");
  const command = familyOf(program, words.slice(0, -1))
    .command(words.at(-1) ?? spec.name)
    .summary(spec.summary)
    .description([`${spec.summary}.`, spec.description ?? ""].join("\n").trim())
    .helpOption("-h, --help", "explain this command")
    .addHelpText("after", examplesText(spec));
  for (const given of spec.arguments) {
    const { help, values } = given;
    const argument = new Argument(argumentTerm(given), help);
    command.addArgument(values === undefined ? argument : argument.choices([...values]));
  }
  for (const { title, specs } of spec.optionGroups) {
    for (const [name, option] of Object.entries(specs)) {
      if (option.secret !== true) command.addOption(toOption(name, option).helpGroup(`${title}:`));
    }
  }
  command.action(async () => {
    const { args } = command;
    onExit(await spec.run({ args, flags: command.opts(), context, loadCommands }));
  });
}

/** The command that a command of two words belongs to; made with the first of them. */
function familyOf(program: Command, [name]: readonly string[]): Command {
  if (name === undefined) return program;
  const there = program.commands.find((command) => command.name() === name);
  if (there !== undefined) return there;
  const summary = COMMAND_FAMILIES.get(name) ?? "";
  return tellMistakes(program.command(name))
    .summary(summary)
    .description(`${summary}.`)
    .helpOption("-h, --help", "explain these commands");
}

/** Values stay as they were typed: they are read where the environment and files are read, too. */
function toOption(name: string, spec: OptionSpec): Option {
  const option = new Option(optionTerm(name, spec), optionHelp(spec));
  if (spec.kind === "list") {
    option.argParser((value: string, before: readonly string[] | undefined) => [
      ...(before ?? []),
      value,
    ]);
  }
  return option;
}

function examplesText(spec: CommandSpec): string {
  const lines = spec.examples.flatMap(({ help, command }) => [
    `  # ${help}`,
    `  $ portolan ${command}`,
  ]);
  return ["", "Examples:", ...lines].join("\n");
}
