import { COMMAND_FAMILIES } from "../command-families.ts";
import {
  type CompletedCommand,
  type CompletedOption,
  isMember,
  type Offer,
} from "./completion-model.ts";

/** The completion script for zsh. */
export function renderZsh(commands: readonly CompletedCommand[]): string {
  const described = commands
    .filter((command) => !isMember(command))
    .map(({ name, help }) => `    ${quote(`${name}:${help}`)}`);
  const families = [...COMMAND_FAMILIES.keys()].join("|");
  return `#compdef portolan
# zsh completion for portolan; to use it: source <(portolan completion zsh)
_portolan() {
  local -a commands
  commands=(
${described.join("\n")}
    'help:explain a command'
  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  shift words
  ((CURRENT--))
  local command="\${words[1]}"
  case "$command" in
    ${families}) if ((CURRENT > 2)); then command+=" \${words[2]}"; shift words; ((CURRENT--)); fi ;;
  esac
  case "$command" in
${commands.map(commandCase).join("\n")}
  esac
}
compdef _portolan portolan
`;
}

function commandCase(command: CompletedCommand): string {
  const specs = command.options.map(optionSpec);
  if (command.argument.kind !== "none") specs.push(quote(`1:argument:${action(command.argument)}`));
  specs.push(quote("--help[explain this command]"));
  return [
    `    ${quote(command.name)})`,
    `      _arguments ${specs.join(" \\\n        ")}`,
    "      ;;",
  ].join("\n");
}

function optionSpec({ flag, short, help, value, isRepeatable }: CompletedOption): string {
  const repeat = isRepeatable ? "*" : "";
  const described = `[${escapeText(help)}]`;
  const rest = value.kind === "none" ? described : `${described}:value:${action(value)}`;
  if (short === "") return quote(`${repeat}${flag}${rest}`);
  const exclusive = isRepeatable ? "" : quote(`(${short} ${flag})`);
  return `${exclusive}${quote(repeat)}{${short},${flag}}${quote(rest)}`;
}

function action(offer: Offer): string {
  switch (offer.kind) {
    case "words":
      return `(${offer.words.map(escapeText).join(" ")})`;
    case "file":
      return "_files";
    default:
      return " ";
  }
}

function escapeText(text: string): string {
  return text.replace(/[[\]:\\]/g, (character) => `\\${character}`);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
