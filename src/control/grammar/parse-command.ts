import { invalid, nearest, type Problem, problemsError } from "../../core/model/problems.ts";
import { ACTIONS, type Command } from "../command.ts";
import type { ResourceSpec } from "../resource-spec.ts";
import { parseResourceCommand } from "./parse-resource-command.ts";
import { parseManCommand, parseSystemCommand, SYSTEM_SYNTAX } from "./parse-system-command.ts";
import { LINE_LIMITS, type LineLimits, type Token, tokenize } from "./tokenize.ts";
import { expectedResource, findAction, findResource } from "./words.ts";

interface Parsed {
  /** Undefined where the words are too wrong to be one; then there are problems. */
  readonly command: Command | undefined;
  readonly problems: readonly Problem[];
}

const SYSTEM_PREFIX = /^system:/i;

/**
 * Reads one line:
 *
 *     ACTION RESOURCE [NAME] [in|to|from RESOURCE NAME]... [PARAMETER VALUE | FLAG]...
 *
 * or a system command, or `man`. A line without words (`tokenize` gives none) is refused as well.
 * @throws CoreError ERR_USAGE with all that is wrong with the words
 */
export function parseCommand(
  line: string,
  resources: readonly ResourceSpec[],
  limits: LineLimits = LINE_LIMITS,
): Command {
  return parseTokens(tokenize(line, limits), resources);
}

/**
 * Reads a command whose words were told apart by somebody else: each is a word, a name or a value as
 * it stands, with spaces or quotes in it. A single one may be a whole line.
 * @throws CoreError ERR_USAGE with all that is wrong with the words
 */
export function parseWords(words: readonly string[], resources: readonly ResourceSpec[]): Command {
  const [only] = words;
  if (words.length === 1 && only !== undefined) return parseCommand(only, resources);
  const tokens = words.map(
    (text, index): Token => ({
      kind: /^$|\s/.test(text) ? "quoted" : "word",
      text,
      column: index + 1,
    }),
  );
  return parseTokens(tokens, resources);
}

function parseTokens(tokens: readonly Token[], resources: readonly ResourceSpec[]): Command {
  const { command, problems } = parse(tokens, resources);
  if (problems.length > 0 || command === undefined) throw problemsError("ERR_USAGE", problems);
  return command;
}

function parse(tokens: readonly Token[], resources: readonly ResourceSpec[]): Parsed {
  const { isSystem, words } = withoutPrefix(tokens);
  const [first, ...more] = words;
  if (first === undefined) {
    return wrong(invalid(["command"], undefined, '"help" to see what can be typed'));
  }
  const isHelp = first.text === "help" && more.length > 0;
  if (first.text === "man" || isHelp) return parseManCommand(more, resources);
  return parseSystemCommand(words) ?? parseAction(first, more, resources, isSystem);
}

function parseAction(
  first: Token,
  more: readonly Token[],
  resources: readonly ResourceSpec[],
  isSystem: boolean,
): Parsed {
  const action = first.kind === "word" ? findAction(first.text) : undefined;
  const [typeToken, ...tokens] = more;
  const resource = typeToken?.kind === "word" ? findResource(typeToken.text, resources) : undefined;
  if (action !== undefined && resource !== undefined) {
    const parsed = parseResourceCommand(action, resource, tokens, resources);
    if (!isSystem || resource.isSystem) return parsed;
    const problem = invalid(["System"], resource.name, 'this command without "System:"');
    return { ...parsed, problems: [problem, ...parsed.problems] };
  }
  const problems: Problem[] = [];
  if (action === undefined)
    problems.push(invalid(["action"], first.text, expectedFirst(first.text)));
  if (resource === undefined) {
    const expected = expectedResource(typeToken?.text ?? "", resources);
    // After a word that is no action nothing is known to be missing.
    if (typeToken !== undefined || action !== undefined) {
      problems.push(invalid(["resource"], typeToken?.text, expected));
    }
  }
  return { command: undefined, problems };
}

function wrong(problem: Problem): Parsed {
  return { command: undefined, problems: [problem] };
}

/** `System:` may stand before a command that concerns the instance, with or without a space. */
function withoutPrefix(tokens: readonly Token[]): { isSystem: boolean; words: readonly Token[] } {
  const [first, ...more] = tokens;
  if (first?.kind !== "word" || !SYSTEM_PREFIX.test(first.text)) {
    return { isSystem: false, words: tokens };
  }
  const text = first.text.replace(SYSTEM_PREFIX, "");
  return { isSystem: true, words: text === "" ? more : [{ ...first, text }, ...more] };
}

function expectedFirst(word: string): string {
  const verbs = SYSTEM_SYNTAX.map(({ verb }) => verb).filter((verb) => !verb.includes(" "));
  const near = nearest(word, [...ACTIONS, ...verbs, "man"]);
  return near === undefined ? `one of ${ACTIONS.join(", ")}, or "help"` : JSON.stringify(near);
}
