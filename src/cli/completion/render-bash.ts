import { COMMAND_FAMILIES } from "../command-families.ts";
import { type CompletedCommand, isMember, type Offer } from "./completion-model.ts";

/** The completion script for bash. Readline breaks words at colons: `file:PATH` comes as three. */
export function renderBash(commands: readonly CompletedCommand[]): string {
  const names = commands.flatMap((command) => (isMember(command) ? [] : [command.name])).join(" ");
  const families = [...COMMAND_FAMILIES.keys()].join("|");
  return `# bash completion for portolan; to use it: source <(portolan completion bash)
_portolan() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command=\${COMP_WORDS[1]}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "${names} help" -- "$cur"))
    return
  fi
  case "$command" in ${families}) ((COMP_CWORD > 2)) && command+=" \${COMP_WORDS[2]}" ;; esac
  if [[ $cur == : || $prev == : ]]; then
    [[ $cur == : ]] && cur=
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$cur"))
    return
  fi
  case "$command $prev" in
${commands.flatMap(valueCases).join("\n")}
  esac
  case "$command" in
${commands.map(commandCase).join("\n")}
  esac
  [[ \${COMPREPLY[0]} == *: ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -F _portolan portolan
`;
}

function valueCases(command: CompletedCommand): readonly string[] {
  return command.options
    .filter((option) => option.value.kind !== "none")
    .map(
      ({ flag, short, value }) =>
        `    ${casePatterns(command.name, [flag, short])}) ${offer(value)}; [[ \${COMPREPLY[0]} == *: ]] && compopt -o nospace 2>/dev/null; return 0 ;;`,
    );
}

function casePatterns(command: string, flags: readonly string[]): string {
  const given = flags.filter((flag) => flag !== "");
  return given.map((flag) => `"${command} ${flag}"`).join("|");
}

function commandCase(command: CompletedCommand): string {
  const flags = [...command.options.map((option) => option.flag), "--help"].join(" ");
  return `    "${command.name}") if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W "${flags}" -- "$cur")); else ${offer(command.argument)}; fi ;;`;
}

function offer(value: Offer): string {
  switch (value.kind) {
    case "words":
      return `COMPREPLY=($(compgen -W "${value.words.join(" ")}" -- "$cur"))`;
    case "file":
      return `compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur"))`;
    default:
      return "COMPREPLY=()";
  }
}
