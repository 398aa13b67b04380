import { invalid, type Problem } from "../../core/model/problems.ts";
import type { ManCommand, SystemCommand, SystemVerb } from "../command.ts";
import type { ResourceSpec } from "../resource-spec.ts";
import { placesOf } from "./check-command.ts";
import { withArticle } from "./param-value.ts";
import type { Token } from "./tokenize.ts";
import { expectedAction, expectedResource, findAction, findResource } from "./words.ts";

interface SystemSyntax {
  readonly verb: SystemVerb;
  /** What its argument is called; undefined where it has none. */
  readonly argument: string | undefined;
  /** One sentence without a full stop. */
  readonly help: string;
}

/** The commands about the instance itself; `list config` begins like a command about resources. */
export const SYSTEM_SYNTAX: readonly SystemSyntax[] = [
  { verb: "help", argument: undefined, help: "Says what can be typed" },
  { verb: "version", argument: undefined, help: "Says which version this is" },
  { verb: "list config", argument: undefined, help: "Prints the commands that give this state" },
  { verb: "save", argument: "FILE", help: "Writes these commands into a file, all or nothing" },
  { verb: "load", argument: "FILE", help: "Runs the commands of a file, all or nothing" },
  { verb: "lookup", argument: "NAME", help: "Gives the addresses of a host name" },
  { verb: "shutdown", argument: undefined, help: "Ends the instance" },
];

/** Reads a system command from its first word on; undefined where it is none. */
export function parseSystemCommand(
  tokens: readonly Token[],
): { readonly command: SystemCommand; readonly problems: readonly Problem[] } | undefined {
  const [first, second] = tokens;
  if (first?.kind !== "word") return undefined;
  const isConfig = findAction(first.text) === "list" && second?.text === "config";
  const verb = isConfig ? "list config" : first.text;
  const syntax = SYSTEM_SYNTAX.find((candidate) => candidate.verb === verb);
  if (syntax === undefined) return undefined;
  const args = tokens.slice(isConfig ? 2 : 1).map(({ text }) => text);
  const command: SystemCommand = { kind: "system", verb: syntax.verb, args };
  return { command, problems: argumentProblems(syntax, args) };
}

function argumentProblems(syntax: SystemSyntax, args: readonly string[]): readonly Problem[] {
  const { verb, argument } = syntax;
  const wanted = argument === undefined ? 0 : 1;
  const extra = args[wanted];
  if (extra !== undefined) {
    const expected = argument === undefined ? `"${verb}" alone` : `one ${argument}`;
    return [invalid([verb], extra, expected)];
  }
  if (argument === undefined || (args[0] !== undefined && args[0] !== "")) return [];
  return [invalid([verb], undefined, `"${verb} ${argument}"`)];
}

/** `man`, `man RESOURCE`, `man RESOURCE ACTION`. */
export function parseManCommand(
  args: readonly Token[],
  resources: readonly ResourceSpec[],
): { readonly command: ManCommand; readonly problems: readonly Problem[] } {
  const [typeToken, actionToken, extra] = args;
  const problems: Problem[] = [];
  const resource = typeToken && findResource(typeToken.text, resources);
  if (typeToken !== undefined && resource === undefined) {
    const expected = expectedResource(typeToken.text, resources);
    problems.push(invalid(["resource"], typeToken.text, expected));
  }
  const action = actionToken && findAction(actionToken.text);
  if (actionToken !== undefined && action === undefined) {
    problems.push(invalid(["action"], actionToken.text, expectedAction(actionToken.text)));
  }
  if (resource !== undefined && action !== undefined && placesOf(resource, action).length === 0) {
    const expected = `an action that ${withArticle(resource.name)} has`;
    problems.push(invalid(["action"], action, expected));
  }
  if (extra !== undefined) {
    problems.push(invalid(["man"], extra.text, '"man RESOURCE ACTION"'));
  }
  return { command: { kind: "man", type: resource?.name, action }, problems };
}
