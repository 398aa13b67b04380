import { ACTIONS, type Action } from "../command.ts";
import { placesOf, placeText } from "../grammar/check-command.ts";
import { SYSTEM_SYNTAX } from "../grammar/parse-system-command.ts";
import { ACTION_SHORTS } from "../grammar/words.ts";
import type { ResourceName } from "../resource-names.ts";
import type { ActionSpec, ParamSpec, ResourceSpec, ScopeSpec } from "../resource-spec.ts";
import { paramTerm, paramValues, usageOf } from "./usage.ts";

/** The form of all commands about resources. */
export const SYNTAX =
  "ACTION RESOURCE [NAME] [in|to|from RESOURCE NAME]... [PARAMETER VALUE | FLAG]...";

/** Help begins at most this far to the right. */
const MAX_TERM = 36;

const ACTION_HELP: Readonly<Record<Action, string>> = {
  add: "Makes one, or adds it to something",
  list: "Names all that there are",
  "list-detail": "Shows all that there are with what is known of them",
  update: "Changes what is said, and leaves the rest",
  remove: "Takes it away, unless something uses it",
  "force-remove": "Takes it away all the same; what is open may end by itself",
};

/** What `man` prints: about everything, a resource, or what one action does to it. */
export function renderManual(
  resources: readonly ResourceSpec[],
  type?: ResourceName,
  action?: Action,
): string {
  const resource = resources.find(({ name }) => name === type);
  if (resource === undefined) return renderOverview(resources);
  return action === undefined ? renderResource(resource) : renderAction(resource, action);
}

/** Actions with their short forms and what they do. */
export function actionRows(): readonly (readonly [Action, readonly string[], string])[] {
  return ACTIONS.map((action) => [action, ACTION_SHORTS[action], ACTION_HELP[action]]);
}

function renderOverview(resources: readonly ResourceSpec[]): string {
  return paragraphs(
    SYNTAX,
    section(
      "Actions",
      actionRows().map(([action, shorts, help]) => [terms(action, shorts), help]),
    ),
    section(
      "Resources",
      resources.map(({ name, shorts, summary }) => [terms(name, shorts), summary]),
    ),
    section(
      "System",
      SYSTEM_SYNTAX.map(({ verb, argument = "", help }) => [`${verb} ${argument}`.trim(), help]),
    ),
    "Quote values that have spaces in them: \"a b\" or 'a b'. A line that begins with # is a comment.",
    "man RESOURCE tells what can be done to a resource, man RESOURCE ACTION tells it with all parameters.",
  );
}

function renderResource(resource: ResourceSpec): string {
  const actions = ACTIONS.filter((action) => placesOf(resource, action).length > 0);
  return paragraphs(
    `${terms(resource.name, resource.shorts)}: ${resource.summary}`,
    ...resource.scopes.map((scope) => renderScope(resource, scope)),
    `man ${resource.name} ACTION tells more: ${actions.join(", ")}.`,
  );
}

function renderScope(resource: ResourceSpec, scope: ScopeSpec): string {
  const [only, ...more] = scope.within;
  const place = more.length === 0 ? only : undefined;
  const rows = actionsOf(scope).map(
    ([action, { help, params }]): Row => [usageOf(resource, action, place, params), help],
  );
  if (place !== undefined) return section(titleOf(place), rows);
  const places = scope.within.map((way) => `  ${placeText(way, "list") || "none"}`);
  return paragraphs(section("In PLACE", rows), ["PLACE is one of", ...places].join("\n"));
}

function titleOf(place: readonly ResourceName[]): string {
  const where = placeText(place, "list").replace(/^in/, "In");
  return where === "" ? "By itself" : where;
}

function renderAction(resource: ResourceSpec, action: Action): string {
  const parts = resource.scopes.flatMap((scope) => {
    const spec = scope.actions[action];
    return spec === undefined ? [] : [renderActionIn(resource, action, scope, spec)];
  });
  return paragraphs(...parts);
}

function renderActionIn(
  resource: ResourceSpec,
  action: Action,
  scope: ScopeSpec,
  { help, params, refused = [], examples }: ActionSpec,
): string {
  const usages = scope.within.map((place) => usageOf(resource, action, place, params));
  const parts = [[...usages, `  ${help}`].join("\n")];
  if (params.length > 0) {
    parts.push(
      section(
        "Parameters",
        params.map((spec) => [paramTerm(spec), paramHelp(spec, action)]),
      ),
    );
  }
  if (refused.length > 0) {
    parts.push(
      section(
        "Not taken",
        refused.map(({ name, why, instead }) => [name, `${why}; expected ${instead}`]),
      ),
    );
  }
  if (examples.length > 0) {
    parts.push(["Examples", ...examples.map((example) => `  ${example}`)].join("\n"));
  }
  return parts.join("\n\n");
}

/** What it means, what it may be, and what holds without it. */
function paramHelp(spec: ParamSpec, action: Action): string {
  const parts = [spec.help, paramValues(spec)];
  if (action === "add" && spec.required === true) parts.push("required");
  if (spec.standard !== undefined) parts.push(`otherwise ${spec.standard}`);
  return parts.filter((part) => part !== "").join("; ");
}

/** The actions of a place in the order in which they are always told. */
export function actionsOf(scope: ScopeSpec): readonly (readonly [Action, ActionSpec])[] {
  return ACTIONS.flatMap((action) => {
    const spec = scope.actions[action];
    return spec === undefined ? [] : [[action, spec] as const];
  });
}

type Row = readonly [term: string, help: string];

/** A title with two aligned columns below; a long term has its help on the next line. */
function section(title: string, rows: readonly Row[]): string {
  const width = Math.min(MAX_TERM, Math.max(0, ...rows.map(([term]) => term.length)));
  const lines = rows.map(([term, help]) =>
    term.length > width
      ? `  ${term}\n  ${" ".repeat(width)}  ${help}`
      : `  ${term.padEnd(width)}  ${help}`,
  );
  return [title, ...lines].join("\n");
}

/** `tcp-lb (tl)` */
function terms(word: string, shorts: readonly string[]): string {
  return shorts.length === 0 ? word : `${word} (${shorts.join(", ")})`;
}

function paragraphs(...parts: readonly string[]): string {
  return parts.join("\n\n");
}
