import type { RuleVerdict, SetDirections, Step } from "../ruleset.ts";
import { connectionMark, KNOWN_EXTENSIONS, MATCHES, tcpFlags } from "./parse-match.ts";
import { parseTarget } from "./parse-target.ts";
import { splitWords } from "./split-words.ts";

/** Says whether a word is a chain of the rule's table, and what it is called here. */
export type ChainLookup = (name: string) => string | undefined;

interface Option {
  readonly name: string;
  readonly values: readonly string[];
  readonly isNegated: boolean;
}

/** The steps of what follows `-A CHAIN`. What is not known becomes a step that says so. */
export function parseRule(text: string, chainOf: ChainLookup): readonly Step[] {
  const options = splitOptions(splitWords(text));
  const targetAt = options.findIndex(({ name }) => name === "-j" || name === "-g");
  const matches = targetAt < 0 ? options : options.slice(0, targetAt);
  const steps = [...matchSteps(matches), ...recentSteps(matches)];
  const target = options[targetAt];
  if (target !== undefined) {
    steps.push(targetStep(target, options.slice(targetAt + 1), chainOf));
  }
  return steps;
}

/** `! -d 10.0.0.0/8` or `--seconds 10`: a name, what follows it, and whether it is meant the other way. */
function splitOptions(words: readonly string[]): readonly Option[] {
  const options: { name: string; values: string[]; isNegated: boolean }[] = [];
  let isNegated = false;
  for (const word of words) {
    const last = options.at(-1);
    // A comment may look like anything.
    const isComment = last?.name === "--comment" && last.values.length === 0;
    if (isComment || !/^[-!]/.test(word)) {
      last?.values.push(word);
    } else if (word === "!") {
      isNegated = true;
    } else {
      options.push({ name: word, values: [], isNegated });
      isNegated = false;
    }
  }
  return options;
}

/** An option belongs to the extension that is named before it. */
function matchSteps(options: readonly Option[]): readonly Step[] {
  let extension = "";
  return options.flatMap((option) => {
    if (option.name === "-m") extension = option.values[0] ?? "";
    return matchStep(option, extension);
  });
}

function matchStep({ name, values, isNegated }: Option, extension: string): readonly Step[] {
  const [value = ""] = values;
  if (name === "-m") return KNOWN_EXTENSIONS.has(value) ? [] : [question(name, values)];
  if (name === "--mark" && extension === "connmark") {
    return [connectionMark(value, isNegated) ?? question(name, values)];
  }
  if (name === "--tcp-flags") return [tcpFlags(value, values[1] ?? "", isNegated)];
  if (RECENT_OPTIONS.has(name)) return [];
  if (name === "--match-set") {
    const [set = "", directions = ""] = values;
    return [{ kind: "in-set", set, directions: parseDirections(directions), isNegated }];
  }
  return [MATCHES[name]?.(value, isNegated) ?? question(name, values)];
}

const RECENT_OPTIONS: ReadonlySet<string> = new Set([
  "--set",
  "--rcheck",
  "--update",
  "--seconds",
  "--reap",
  "--name",
  "--mask",
  "--rsource",
]);

/** The options of `recent` mean something only together. To be put on a list always succeeds. */
function recentSteps(options: readonly Option[]): readonly Step[] {
  const check = options.find(({ name }) => name === "--rcheck" || name === "--update");
  const list = options.find(({ name }) => name === "--name")?.values[0];
  if (check === undefined || list === undefined) return [];
  if (check.isNegated) return [question("! recent", [list])];
  const seconds = options.find(({ name }) => name === "--seconds")?.values[0];
  return [{ kind: "recent", list, seconds: seconds === undefined ? undefined : Number(seconds) }];
}

function targetStep(target: Option, options: readonly Option[], chainOf: ChainLookup): Step {
  const [name = ""] = target.values;
  const chain = chainOf(name);
  if (chain !== undefined) {
    const verdict: RuleVerdict = { kind: target.name === "-g" ? "goto" : "jump", chain };
    return { kind: "verdict", verdict };
  }
  const mapped = name === "SET" ? mapMark(options) : undefined;
  if (mapped !== undefined) return mapped;
  const byName = new Map(options.map((option) => [option.name, option.values[0] ?? ""]));
  const step = parseTarget(name, byName);
  return step ?? { ...question(target.name, target.values), isQuestion: false };
}

/** `--map-set NAME dst,dst --map-mark`; what else the target does is not known. */
function mapMark(options: readonly Option[]): Step | undefined {
  const [map, mark, ...more] = options;
  if (map?.name !== "--map-set" || mark?.name !== "--map-mark" || more.length > 0) return undefined;
  const [set = "", directions = ""] = map.values;
  return { kind: "map-mark", set, directions: parseDirections(directions) };
}

function parseDirections(text: string): SetDirections {
  return text.split(",").map((word) => (word === "src" ? "src" : "dst"));
}

function question(name: string, values: readonly string[]): Extract<Step, { kind: "unknown" }> {
  return { kind: "unknown", text: [name, ...values].join(" "), isQuestion: true };
}
