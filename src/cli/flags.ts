import { CoreError } from "../core/errors.ts";
import { formatProblem } from "../core/model/problems.ts";
import type { OptionSpecs, ValuesOf } from "../core/options/option-spec.ts";
import { environmentLayer, flagLayer, resolveOptions } from "../core/options/resolve-options.ts";
import type { CommandInput } from "./command-spec.ts";

export const JSON_OPTION = {
  json: { kind: "boolean", help: "print for machines" },
} as const;

/**
 * The options of a command that reads no config file.
 * @throws CoreError ERR_USAGE with all problems
 */
export function resolveFlags<S extends OptionSpecs>(specs: S, input: CommandInput): ValuesOf<S> {
  const layers = [flagLayer(input.flags), environmentLayer(input.context.environment)];
  const { values, problems } = resolveOptions(specs, layers);
  if (values === undefined) {
    throw new CoreError("ERR_USAGE", problems.map(formatProblem).join("\n"), { problems });
  }
  return values;
}
