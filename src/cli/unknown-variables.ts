import { nearest } from "../core/model/problems.ts";
import { environmentName } from "../core/options/option-spec.ts";
import type { CliContext, CommandSpec } from "./command-spec.ts";

const PREFIX = "PORTOLAN_";

/** Read by tests and tools of the repository, or secrets that some version reads. */
const NO_OPTION =
  /^PORTOLAN_(?:TEST_.*|REGENERATE|RESP_PASSWORD|HTTP_TOKEN|ETCD_PASSWORD|WEBSOCKS_PASSWORD|KCPTUN_SECRET)$/;

/** What Kubernetes sets in every pod beside a service whose name begins with `portolan`. */
const OF_KUBERNETES =
  /^PORTOLAN_(?:\w+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?)?)$/;

/**
 * A line for each variable that looks like an option and is none: a typo would go unnoticed.
 * @param loadAll every command; called only where the commands that are loaded do not know one
 */
export async function unknownVariables(
  environment: CliContext["environment"],
  loaded: readonly CommandSpec[],
  loadAll: () => Promise<readonly CommandSpec[]>,
): Promise<readonly string[]> {
  const unknownTo = (names: readonly string[], specs: readonly CommandSpec[]) => {
    const known = variablesOf(specs);
    return { known, unknown: names.filter((name) => !known.has(name)) };
  };
  const given = Object.keys(environment).filter(isMeantForUs);
  const { unknown: doubtful } = unknownTo(given, loaded);
  if (doubtful.length === 0) return [];
  const { known, unknown } = unknownTo(doubtful, await loadAll());
  return unknown.map((name) => {
    const near = nearest(
      name.slice(PREFIX.length),
      [...known].map((one) => one.slice(PREFIX.length)),
    );
    const hint = near === undefined ? "" : ` (did you mean ${PREFIX}${near}?)`;
    return `warning: the variable ${name} is not an option${hint}; it is ignored`;
  });
}

function isMeantForUs(name: string): boolean {
  return name.startsWith(PREFIX) && !NO_OPTION.test(name) && !OF_KUBERNETES.test(name);
}

function variablesOf(specs: readonly CommandSpec[]): ReadonlySet<string> {
  const groups = specs.flatMap(({ optionGroups }) => optionGroups);
  return new Set(groups.flatMap((group) => Object.keys(group.specs).map(environmentName)));
}
