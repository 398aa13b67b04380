import type { Action } from "../command.ts";
import type { ActionSpec, ParamSpec, RefusedParam } from "../resource-spec.ts";
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
  /** What `force-remove` means for those that use it, where that is more than that it is gone. */
  readonly force?: string;
  /** Words that neither `add` nor `update` takes. */
  readonly refused?: readonly RefusedParam[];
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
  const { refused = [] } = texts;
  const update: ActionSpec = {
    ...plain(
      `Changes what is said of ${one}, while it runs, and leaves the rest as it is`,
      texts.update,
      updateParams(fields),
    ),
    refused: [...fixedParams(fields), ...refused],
  };
  return {
    add: { ...plain(`Adds ${one}`, texts.add, addParams(fields)), refused },
    list: plain(`Shows the names of all ${many}`, [`list ${type}${listed}`]),
    "list-detail": plain(`Shows all ${many} with what they are and who owns them`, [
      `list-detail ${type}${listed}`,
    ]),
    ...(texts.update.length === 0 ? {} : { update }),
    remove: plain(`Removes ${one}${texts.remove}`, [
      `remove ${example}${place.replace(/^ (?:to|in) /, " from ")}`,
    ]),
    "force-remove": plain(
      [
        `Removes ${one} whoever uses it`,
        ...(texts.force === undefined ? [] : [texts.force]),
        "open connections go on until they end by themselves",
      ].join("; "),
      [`force-remove ${example}${place.replace(/^ (?:to|in) /, " from ")}`],
    ),
  };
}

function fixedParams<O>(fields: readonly Field<O>[]): readonly RefusedParam[] {
  return addParams(fields.filter(({ isFixed }) => isFixed === true)).map(({ name, field }) => ({
    name,
    field,
    why: "can not be changed",
    instead: `none: remove it, and add it with another ${name}`,
  }));
}
