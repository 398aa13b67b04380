import type { Action } from "../command.ts";
import { placeText } from "../grammar/check-command.ts";
import { expectedOf, withArticle } from "../grammar/param-value.ts";
import { SYSTEM_SYNTAX } from "../grammar/parse-system-command.ts";
import type { ResourceName } from "../resource-names.ts";
import type { ParamSpec, RefusedParam, ResourceSpec, ScopeSpec } from "../resource-spec.ts";
import { COMMANDS_INTRODUCTION, GENERATED, RESULTS, SYSTEM, WORDS } from "./commands-doc-text.ts";
import { actionRows, actionsOf, SYNTAX } from "./render-manual.ts";
import { paramValues, subjectOf } from "./usage.ts";

/** `docs/commands.md`. */
export function renderCommandsDoc(resources: readonly ResourceSpec[]): string {
  return lines(
    "# Commands",
    GENERATED,
    COMMANDS_INTRODUCTION,
    fenced(SYNTAX),
    table(
      ["action", "short", "does"],
      actionRows().map(([action, shorts, help]) => [code(action), codes(shorts), help]),
    ),
    WORDS,
    "## Results",
    RESULTS,
    "## System commands",
    SYSTEM,
    table(
      ["command", "does"],
      SYSTEM_SYNTAX.map(({ verb, argument = "", help }) => [
        code(`${verb} ${argument}`.trim()),
        help,
      ]),
    ),
    "## Resources",
    table(
      ["resource", "short", "is"],
      resources.map(({ name, shorts, summary }) => [linked(name), codes(shorts), summary]),
    ),
    ...resources.map(renderResource),
  );
}

function renderResource(resource: ResourceSpec): string {
  const facts = [resource.summary];
  if (resource.shorts.length > 0) facts.push(`Short: ${codes(resource.shorts)}`);
  if (resource.isSystem) facts.push("Only for those who may give system commands");
  const parts = [`## ${resource.name}`, facts.map((fact) => `${fact}.`).join(" ")];
  for (const scope of resource.scopes) {
    if (resource.scopes.length > 1) parts.push(`### ${resource.name} ${headingOf(scope)}`);
    parts.push(...renderScope(resource, scope));
  }
  return parts.join("\n\n");
}

/** `by itself`, `in upstream or service` */
function headingOf({ within }: ScopeSpec): string {
  const types = new Set(within.flatMap(([nearest]) => nearest ?? []));
  return types.size === 0 ? "by itself" : `in ${[...types].join(" or ")}`;
}

function renderScope(resource: ResourceSpec, scope: ScopeSpec): readonly string[] {
  const [only, ...more] = scope.within;
  const place = more.length === 0 ? only : undefined;
  const rows = actionsOf(scope).map(([action, { help }]) => [
    code(`${action} ${subjectOf(resource, action, place)}`),
    help,
  ]);
  const parts = [table(["command", "does"], rows)];
  if (place === undefined) parts.push(`\`PLACE\` is one of ${placesText(scope)}.`);
  const params = paramRows(scope);
  if (params.length > 0) {
    parts.push(table(["parameter", "is", "of", "in JSON", "may be", "otherwise"], params));
  }
  const refused = refusedRows(scope);
  if (refused.length > 0) parts.push(table(["not taken", "of", "why", "instead"], refused));
  const examples = actionsOf(scope).flatMap(([, spec]) => spec.examples);
  if (examples.length > 0) parts.push(fenced(examples.join("\n")));
  return parts;
}

function placesText({ within }: ScopeSpec): string {
  return within
    .map((place) => (place.length === 0 ? "none" : code(placeText(place, "list"))))
    .join(", ");
}

/** One row a parameter, with the actions that take it; what differs between them has its own row. */
function paramRows(scope: ScopeSpec): readonly (readonly string[])[] {
  const rows = new Map<string, { readonly spec: ParamSpec; readonly actions: string[] }>();
  for (const [action, { params }] of actionsOf(scope)) {
    for (const spec of params) {
      const key = JSON.stringify([spec.name, spec.help, valuesOf(spec)]);
      const row = rows.get(key) ?? { spec, actions: [] };
      row.actions.push(actionText(action, spec));
      rows.set(key, row);
    }
  }
  return [...rows.values()].map(({ spec, actions }) => [
    code(spec.name),
    spec.help,
    actions.join(", "),
    code(spec.field),
    valuesOf(spec),
    spec.standard ?? "",
  ]);
}

/** One row a word that people try, with the actions that do not take it. */
function refusedRows(scope: ScopeSpec): readonly (readonly string[])[] {
  const rows = new Map<string, { readonly param: RefusedParam; readonly actions: string[] }>();
  for (const [action, { refused = [] }] of actionsOf(scope)) {
    for (const param of refused) {
      const row = rows.get(param.name) ?? { param, actions: [] };
      row.actions.push(action);
      rows.set(param.name, row);
    }
  }
  return [...rows.values()].map(({ param: { name, why, instead }, actions }) => [
    code(name),
    actions.join(", "),
    why,
    instead,
  ]);
}

function valuesOf(spec: ParamSpec): string {
  switch (spec.kind) {
    case "text":
      return code(spec.placeholder);
    case "flag":
      return "the word alone";
    case "reference":
      return `the name of ${withArticle(spec.to).replace(spec.to, linked(spec.to))}`;
    case "list":
      return `${spec.references === undefined ? code(spec.placeholder) : linked(spec.references)}, or several with commas between`;
    default:
      return [expectedOf(spec), spec.kind === "enum" ? paramValues(spec) : ""]
        .filter(Boolean)
        .join("; ");
  }
}

function linked(name: ResourceName): string {
  return `[${code(name)}](#${name})`;
}

function actionText(action: Action, { required }: ParamSpec): string {
  return action === "add" && required === true ? "**add**" : action;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
}

function code(text: string): string {
  return `\`${text}\``;
}

function codes(words: readonly string[]): string {
  return words.map(code).join(", ");
}

function fenced(text: string): string {
  return `\`\`\`\n${text}\n\`\`\``;
}

function lines(...parts: readonly string[]): string {
  return `${parts.join("\n\n")}\n`;
}
