import type { Action } from "../command.ts";
import type { ActionSpec, ParamSpec } from "../resource-spec.ts";
import { addParams, type Field, updateParams } from "./fields.ts";

/** What the manual says of a resource that is added, listed, changed and removed. */
export interface ActionTexts {
  /** One of them, with its article: `a load balancer`. */
  readonly one: string;
  /** Several: `load balancers`. */
  readonly many: string;
  /** Where it stands, such as ` in server-group g0`; empty for what stands by itself. */
  readonly place: string;
  /** Of `add`; whole commands. */
  readonly add: readonly [string, ...string[]];
  /** Of `update`; empty where nothing of it can be changed. */
  readonly update: readonly string[];
  /** What `remove` takes along or refuses. */
  readonly remove: string;
  /** How it is typed: `tcp-lb lb0`. */
  readonly example: string;
}

/** The actions of such a resource. */
export function actionsOf<O>(
  fields: readonly Field<O>[],
  texts: ActionTexts,
): Partial<Record<Action, ActionSpec>> {
  const { one, many, place, example } = texts;
  const [type = ""] = example.split(" ");
  const listed = place.replace(/^ (?:to|from) /, " in ");
  const plain = (help: string, examples: readonly string[], params: readonly ParamSpec[] = []) => ({
    help,
    params,
    examples,
  });
  const update = plain(
    `Changes what is said of ${one}, while it runs, and leaves the rest as it is`,
    texts.update,
    updateParams(fields),
  );
  return {
    add: plain(`Adds ${one}`, texts.add, addParams(fields)),
    list: plain(`Shows the names of all ${many}`, [`list ${type}${listed}`]),
    "list-detail": plain(`Shows all ${many} with what they are and who owns them`, [
      `list-detail ${type}${listed}`,
    ]),
    ...(texts.update.length === 0 ? {} : { update }),
    remove: plain(`Removes ${one}${texts.remove}`, [
      `remove ${example}${place.replace(/^ (?:to|in) /, " from ")}`,
    ]),
    "force-remove": plain(
      `Removes ${one} whoever uses it; open connections go on until they end by themselves`,
      [`force-remove ${example}${place.replace(/^ (?:to|in) /, " from ")}`],
    ),
  };
}
