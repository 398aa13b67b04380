import { CoreError } from "../../core/errors.ts";
import { nearest } from "../../core/model/problems.ts";

/** Who uses something is told up to this many. */
const MAX_NAMED = 10;

/** @param what as it is typed: `tcp-lb lb0` */
export function taken(what: string, by: string): CoreError {
  return new CoreError(
    "ERR_KEY_TAKEN",
    `${what}: the name is taken by ${by}; choose another name, or remove that first`,
  );
}

/**
 * @param type what was looked for, `tcp-lb`
 * @param known the names that are there
 * @param instead what has the name, where it is something else
 */
export function notFound(
  type: string,
  name: string,
  known: Iterable<string>,
  instead?: string,
): CoreError {
  const near = nearest(name, known);
  const hint =
    near === undefined ? `"list ${type}" shows what there is` : `did you mean "${near}"?`;
  const reason = instead === undefined ? hint : `the name is that of ${instead}`;
  return new CoreError("ERR_NOT_FOUND", `there is no ${type} "${name}"; ${reason}`);
}

/** A service has it without saying so. */
export function implicitGroup(name: string): CoreError {
  return new CoreError(
    "ERR_NOT_FOUND",
    `there is no server-group "${name}"; the service of that name keeps its servers without one: "add server-group ${name}" makes it a group like any other`,
  );
}

export function notOurs(what: string, owner: string): CoreError {
  return new CoreError(
    "ERR_NOT_OURS",
    `${what} is of the source ${JSON.stringify(owner)} and can be changed only there`,
  );
}

export function inUse(what: string, users: readonly string[]): CoreError {
  const named = users.slice(0, MAX_NAMED).join(", ");
  const more = users.length > MAX_NAMED ? ` and ${users.length - MAX_NAMED} more` : "";
  return new CoreError(
    "ERR_IN_USE",
    `${what} is used by ${named}${more}; change or remove those first, or say force-remove`,
  );
}
