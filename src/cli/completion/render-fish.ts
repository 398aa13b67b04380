import {
  type CompletedCommand,
  type CompletedOption,
  isMember,
  type Offer,
} from "./completion-model.ts";

/** The completion script for fish. */
export function renderFish(commands: readonly CompletedCommand[]): string {
  const lines = [
    "# fish completion for portolan; to use it: portolan completion fish | source",
    "complete -c portolan -f",
    ...commands
      .filter((command) => !isMember(command))
      .map(
        ({ name, help }) =>
          `complete -c portolan -n __fish_use_subcommand -a ${name} -d ${quote(help)}`,
      ),
    "complete -c portolan -n __fish_use_subcommand -a help -d 'explain a command'",
    ...commands.flatMap(commandLines),
  ];
  return `${lines.join("\n")}\n`;
}

function commandLines(command: CompletedCommand): readonly string[] {
  const seen = command.name.split(" ").map((word) => `__fish_seen_subcommand_from ${word}`);
  const only = `complete -c portolan -n '${seen.join("; and ")}'`;
  const lines = command.options.map((option) => `${only} ${optionText(option)}`);
  const { argument } = command;
  if (argument.kind === "file") lines.push(`${only} -F`);
  if (argument.kind === "words") lines.push(`${only} -a ${quote(argument.words.join(" "))}`);
  return [...lines, `${only} -l help -d 'explain this command'`];
}

function optionText({ flag, short, help, value }: CompletedOption): string {
  const name = flag.replace(/^--/, "");
  const letter = short === "" ? [] : [`-s ${short.slice(1)}`];
  return [`-l ${name}`, ...letter, ...valueText(value), `-d ${quote(help)}`].join(" ");
}

function valueText(value: Offer): readonly string[] {
  switch (value.kind) {
    case "none":
      return [];
    case "words":
      return [`-x -a ${quote(value.words.join(" "))}`];
    case "file":
      return ["-r -F"];
    case "any":
      return ["-x"];
  }
}

function quote(text: string): string {
  return `'${text.replace(/['\\]/g, (character) => `\\${character}`)}'`;
}
