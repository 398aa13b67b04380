import { CoreError } from "../../core/errors.ts";
import { invalid, type PathPart, type Problem, problemsError } from "../../core/model/problems.ts";
import type { Action, ParamInput } from "../command.ts";
import { expectedOf } from "../grammar/param-value.ts";
import { paramProblems, unknownParam } from "../grammar/read-params.ts";
import type { ParamSpec, RefusedParam } from "../resource-spec.ts";

/** What a body says, in the words of commands. */
export interface BodyParams {
  /** Empty where it has none. */
  readonly name: string;
  readonly params: ReadonlyMap<string, ParamInput>;
}

const NAME_FIELD = "name";
const NAME_EXPECTED = "a name that is not empty";

/**
 * Reads the fields of a JSON body as parameters. Values keep the types that they have in JSON.
 * @param pathName the name that the path has; empty where the body must have it
 * @throws CoreError ERR_USAGE with all that is wrong, by the fields' names
 */
export function readBodyParams(
  body: unknown,
  specs: readonly ParamSpec[],
  action: Action,
  pathName: string,
  refused: readonly RefusedParam[] = [],
): BodyParams {
  if (!isObject(body)) throw problemsError("ERR_USAGE", [invalid([], body, "a JSON object")]);
  const problems: Problem[] = [];
  const params = new Map<string, ParamInput>();
  const bad = new Set<string>();
  for (const [field, value] of Object.entries(body)) {
    if (field === NAME_FIELD) continue;
    const spec = specs.find((candidate) => candidate.field === field);
    if (spec === undefined) {
      const known = [NAME_FIELD, ...specs.map((each) => each.field)];
      const byFields = refused.map((param) => ({ ...param, name: param.field }));
      problems.push(unknownParam(field, known, byFields));
    } else if (isParamInput(value)) {
      params.set(spec.name, value);
    } else {
      bad.add(spec.name);
      problems.push(invalid([field], value, expectedOf(spec)));
    }
  }
  const name = readName(body[NAME_FIELD], pathName, problems);
  const others = specs.filter((spec) => !bad.has(spec.name));
  problems.push(...paramProblems(params, others, action).map((one) => byField(one, specs)));
  if (problems.length > 0) throw problemsError("ERR_USAGE", problems);
  return { name, params };
}

/** The same error with the fields of JSON in place of parameters, as whoever sent the body knows them. */
export function errorByFields(error: unknown, specs: readonly ParamSpec[]): unknown {
  if (!(error instanceof CoreError) || error.problems.length === 0) return error;
  const problems = error.problems.map((problem) => byField(problem, specs));
  return error.code === "ERR_USAGE"
    ? problemsError(error.code, problems, { cause: error })
    : new CoreError(error.code, error.message, { cause: error, problems });
}

function byField(problem: Problem, specs: readonly ParamSpec[]): Problem {
  const [first, ...rest] = problem.path;
  const spec = specs.find((candidate) => candidate.name === first);
  const path: readonly PathPart[] = spec === undefined ? problem.path : [spec.field, ...rest];
  return { ...problem, path };
}

function readName(value: unknown, pathName: string, problems: Problem[]): string {
  if (pathName === "") {
    if (typeof value === "string" && value !== "") return value;
    problems.push(invalid([NAME_FIELD], value, NAME_EXPECTED));
    return "";
  }
  if (value !== undefined && value !== pathName) {
    problems.push(invalid([NAME_FIELD], value, `${JSON.stringify(pathName)}, as in the path`));
  }
  return pathName;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isParamInput(value: unknown): value is ParamInput {
  switch (typeof value) {
    case "string":
    case "number":
    case "boolean":
      return true;
    case "object":
      if (value === null) return false;
      return Object.values(value).every((entry) => typeof entry === "string");
    default:
      return false;
  }
}
