import { BACKEND_NAMES } from "../backends/registry.ts";
import { CoreError } from "../core/errors.ts";
import { nearest } from "../core/model/problems.ts";

/** Attached to the store itself: it serves every node, where a backend takes one node's view. */
export const API = "api";

/** The best backend that works on this machine. */
export const AUTO = "auto";

/** The words that `--to` takes. */
export const AVAILABLE_BACKENDS: readonly string[] = [...BACKEND_NAMES, API, AUTO];

/**
 * Says why there is no backend of that name.
 * @param where what an error calls the place that it stands in
 */
export function refuseBackend(name: string, where: string): never {
  // What is a word elsewhere may be none here: `cleanup --to auto`.
  const others = AVAILABLE_BACKENDS.filter((known) => known !== name);
  const near = nearest(name, others);
  const hint = near === undefined ? "" : ` (did you mean "${near}"?)`;
  throw new CoreError(
    "ERR_CONFIG_INVALID",
    `${where}: "${name}" is not a backend${hint}; expected one of ${others.join(", ")}`,
  );
}
