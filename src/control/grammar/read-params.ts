import type { StringMap } from "../../core/model/common.ts";
import { invalid, type Problem, problemsError, unknownKey } from "../../core/model/problems.ts";
import type { Action, ParamInput } from "../command.ts";
import type { ParamSpec, RefusedParam } from "../resource-spec.ts";
import { duplicateKeyProblem } from "./duplicate-key.ts";
import {
  expectedOf,
  isStringMap,
  type ParamAddress,
  type ParamValue,
  readValue,
} from "./param-value.ts";

type Inputs = ReadonlyMap<string, ParamInput>;

/**
 * Reads the parameters of a command, from whichever controller it came:
 *
 *     const params = readParams(command.params, spec.params, command.action);
 *     const weight = params.integer("weight") ?? 10;
 *
 * @throws CoreError ERR_USAGE with all problems, each by the name of its parameter
 */
export function readParams(
  inputs: Inputs,
  specs: readonly ParamSpec[],
  action: Action,
): ParamReader {
  const problems = paramProblems(inputs, specs, action);
  if (problems.length > 0) throw problemsError("ERR_USAGE", problems);
  return new ParamReader(inputs, specs);
}

/** All that is wrong with parameters: unknown ones, values that are not valid, what `add` misses. */
export function paramProblems(
  inputs: Inputs,
  specs: readonly ParamSpec[],
  action: Action,
  refused: readonly RefusedParam[] = [],
): readonly Problem[] {
  const names = specs.map(({ name }) => name);
  const problems: Problem[] = [];
  for (const [name, input] of inputs) {
    const spec = specs.find((candidate) => candidate.name === name);
    if (spec === undefined) problems.push(unknownParam(name, names, refused));
    else problems.push(...valueProblems(spec, input));
  }
  for (const spec of specs) {
    const isMissing = action === "add" && spec.required === true && !inputs.has(spec.name);
    if (isMissing) problems.push(invalid([spec.name], undefined, expectedOf(spec)));
  }
  return problems;
}

function valueProblems(spec: ParamSpec, input: ParamInput): readonly Problem[] {
  if (readValue(spec, input) === undefined) return [invalidParam(spec, input)];
  if (spec.kind !== "strings" || typeof input !== "string") return [];
  return [duplicateKeyProblem(input, [spec.name])].filter((problem) => problem !== undefined);
}

/** What is wrong with a word that an action does not take. */
export function unknownParam(
  name: string,
  known: readonly string[],
  refused: readonly RefusedParam[],
): Problem {
  const told = refused.find((param) => param.name === name);
  if (told !== undefined) {
    return { path: [name], fault: "malformed", value: told.why, expected: told.instead };
  }
  const problem = unknownKey([name], known);
  return known.length === 0 ? { ...problem, expected: "no parameters" } : problem;
}

function invalidParam(spec: ParamSpec, input: ParamInput): Problem {
  const problem = invalid([spec.name], input, expectedOf(spec));
  const isSecret = spec.kind === "text" && spec.secret === true;
  return isSecret ? { ...problem, value: "(hidden)" } : problem;
}

/**
 * The parameters of a command by their names, as what they are. Every method gives undefined where
 * the parameter was not given, so `update` knows what to leave; a parameter that the action does not
 * have was not given. An empty text, list or reference was given: it takes away what was there.
 */
export class ParamReader {
  readonly #values = new Map<string, ParamValue>();

  /** @param inputs such as `paramProblems` finds nothing in */
  constructor(inputs: Inputs, specs: readonly ParamSpec[]) {
    for (const spec of specs) {
      const input = inputs.get(spec.name);
      const value = input === undefined ? undefined : readValue(spec, input);
      if (value !== undefined) this.#values.set(spec.name, value);
    }
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** Whether nothing was given. */
  get isEmpty(): boolean {
    return this.#values.size === 0;
  }

  /** Of the kinds text, enum (never an alias) and reference. */
  text(name: string): string | undefined {
    return this.#typed(name, "text", (value) => typeof value === "string");
  }

  /** Of the kind enum, as one of the words that the caller knows. */
  oneOf<W extends string>(name: string, words: readonly W[]): W | undefined {
    const text = this.text(name);
    return words.find((word) => word === text);
  }

  integer(name: string): number | undefined {
    return this.#typed(name, "an integer", (value) => typeof value === "number");
  }

  list(name: string): readonly string[] | undefined {
    return this.#typed(name, "a list", (value): value is readonly string[] => Array.isArray(value));
  }

  strings(name: string): StringMap | undefined {
    return this.#typed(name, "an object of texts", isStringMap);
  }

  address(name: string): ParamAddress | undefined {
    return this.#typed(name, "an address", isAddress);
  }

  /** True where the word was given; JSON can say false. */
  flag(name: string): boolean | undefined {
    return this.#typed(name, "a flag", (value) => typeof value === "boolean");
  }

  /**
   * Two flags that are each other's opposite, such as `allow-non-backend` and `deny-non-backend`.
   * @throws CoreError ERR_USAGE where both are said
   */
  either(yes: string, no: string): boolean | undefined {
    const [isYes, isNo] = [this.flag(yes), this.flag(no)];
    if (isNo === undefined) return isYes;
    if (isYes === isNo) {
      const both: Problem = {
        path: [no],
        fault: "malformed",
        value: `says the opposite of "${yes}"`,
        expected: "one of the two",
      };
      throw problemsError("ERR_USAGE", [both]);
    }
    return !isNo;
  }

  #typed<T extends ParamValue>(
    name: string,
    what: string,
    is: (value: ParamValue) => value is T,
  ): T | undefined {
    const value = this.#values.get(name);
    if (value === undefined || is(value)) return value;
    throw new TypeError(`parameter ${name} is not ${what} in its ParamSpec`);
  }
}

function isAddress(value: ParamValue): value is ParamAddress {
  if (typeof value !== "object") return false;
  return "kind" in value && (value["kind"] === "tcp" || value["kind"] === "unix");
}
