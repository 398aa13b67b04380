import { deviationsOf } from "../../src/backends/deviations.ts";
import type { Scenario } from "../../src/core/route/scenarios/scenario.ts";

/** So few that each value of each axis, and each deviation of a backend, is in one of them. */
export function representatives(
  scenarios: readonly Scenario[],
  backend: string,
): readonly Scenario[] {
  const deviations = deviationsOf(backend);
  const seen = new Set<string>();
  return scenarios.filter(({ name }) => {
    const deviating = deviations.filter((one) => one.scenarios.test(name));
    const values = [...name.split("/"), ...deviating.map(({ id }) => id)];
    const fresh = values.filter((value) => !seen.has(value));
    for (const one of fresh) seen.add(one);
    return fresh.length > 0;
  });
}
