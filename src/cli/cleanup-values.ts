import { CoreError } from "../core/errors.ts";
import { formatProblem } from "../core/model/problems.ts";
import type { OptionSpecs, ValuesOf } from "../core/options/option-spec.ts";
import { environmentLayer, flagLayer, resolveOptions } from "../core/options/resolve-options.ts";

/**
 * The options with which a backend is opened to clean up: flags that it knows, then what the environment
 * says, as `run` reads it.
 * @throws CoreError ERR_USAGE with all problems
 */
export function cleanupValues<S extends OptionSpecs>(
  specs: S,
  flags: Readonly<Record<string, unknown>>,
  environment: Readonly<Record<string, string | undefined>>,
): ValuesOf<S> {
  const known = Object.entries(flags).filter(([flag]) => flag in specs);
  const layers = [flagLayer(Object.fromEntries(known)), environmentLayer(environment)];
  const { values, problems } = resolveOptions(specs, layers);
  if (values !== undefined) return values;
  throw new CoreError("ERR_USAGE", problems.map(formatProblem).join("\n"), { problems });
}
