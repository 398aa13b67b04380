import { invalid, type PathPart, type Problem } from "../model/problems.ts";
import { environmentName, flagName, type OptionSpecs, type ValuesOf } from "./option-spec.ts";
import { expectedOf, type OptionValue, parseOption } from "./parse-option.ts";

/** One place where options may stand. */
export interface OptionLayer {
  /** By the name in code; undefined where it is not said here. */
  get(name: string): unknown;
  /** What an error calls it. */
  path(name: string): readonly PathPart[];
}

export function flagLayer(flags: Readonly<Record<string, unknown>>): OptionLayer {
  return { get: (name) => flags[name], path: (name) => [`--${flagName(name)}`] };
}

export function environmentLayer(
  environment: Readonly<Record<string, string | undefined>>,
): OptionLayer {
  return {
    get: (name) => environment[environmentName(name)],
    path: (name) => [environmentName(name)],
  };
}

/** @param at where in the file the options stand. */
export function fileLayer(
  options: Readonly<Record<string, unknown>>,
  at: readonly PathPart[],
): OptionLayer {
  return { get: (name) => options[flagName(name)], path: (name) => [...at, flagName(name)] };
}

export type Resolved<S extends OptionSpecs> =
  | { readonly values: ValuesOf<S>; readonly problems: readonly [] }
  | { readonly values: undefined; readonly problems: readonly Problem[] };

/** Takes each option from the first layer that says it, else its default; collects all problems. */
export function resolveOptions<S extends OptionSpecs>(
  specs: S,
  layers: readonly OptionLayer[],
): Resolved<S> {
  const values: Record<string, OptionValue | undefined> = {};
  const problems: Problem[] = [];
  for (const [name, spec] of Object.entries(specs)) {
    const layer = firstLayer(layers, name);
    if (layer === undefined) {
      values[name] = defaultOf(spec);
      continue;
    }
    const raw = layer.get(name);
    values[name] = parseOption(spec, raw);
    if (values[name] !== undefined) continue;
    const shown = spec.secret === true ? "(hidden)" : raw;
    problems.push(invalid(layer.path(name), shown, expectedOf(spec)));
  }
  if (problems.length > 0) return { values: undefined, problems };
  // The loop reads each name by its own spec, which a type over all names can not follow.
  return { values: Object.freeze(values) as ValuesOf<S>, problems: [] };
}

/** The layer that says an option; undefined where none does. */
export function firstLayer(layers: readonly OptionLayer[], name: string): OptionLayer | undefined {
  return layers.find((layer) => layer.get(name) !== undefined);
}

function defaultOf(spec: OptionSpecs[string]): OptionValue | undefined {
  switch (spec.kind) {
    case "boolean":
      return false;
    case "list":
      return [];
    // May be empty, which nobody may say.
    case "string":
      return spec.default;
    default:
      return spec.default === undefined ? undefined : parseOption(spec, spec.default);
  }
}
