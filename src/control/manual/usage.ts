import type { Action } from "../command.ts";
import { placeText } from "../grammar/check-command.ts";
import { expectedOf } from "../grammar/param-value.ts";
import { isListing } from "../grammar/words.ts";
import type { ResourceName } from "../resource-names.ts";
import type { ParamSpec, ResourceSpec } from "../resource-spec.ts";

/** `address ADDRESS`, `protocol tcp|http`, `falls-back`: a parameter as it is typed. */
export function paramTerm(spec: ParamSpec): string {
  switch (spec.kind) {
    case "text":
      return `${spec.name} ${spec.placeholder}`;
    case "integer":
      return `${spec.name} NUMBER`;
    case "enum":
      return `${spec.name} ${spec.values.join("|")}`;
    case "address":
      return `${spec.name} ADDRESS`;
    case "list":
      return `${spec.name} ${spec.placeholder},...`;
    case "reference":
      return `${spec.name} ${spec.to.toUpperCase()}`;
    case "strings":
      return `${spec.name} {JSON}`;
    case "flag":
      return spec.name;
  }
}

/** What a parameter may be where its name and its term do not say so; empty where they do. */
export function paramValues(spec: ParamSpec): string {
  switch (spec.kind) {
    case "integer":
      return `${spec.min} to ${spec.max}`;
    case "enum":
      return Object.entries(spec.aliases ?? {})
        .map(([alias, value]) => `${alias} for ${value}`)
        .join(", ");
    case "address":
      return expectedOf(spec);
    default:
      return "";
  }
}

/** `server-group NAME to upstream NAME`: a resource with its place; undefined where it has several. */
export function subjectOf(
  resource: ResourceSpec,
  action: Action,
  place: readonly ResourceName[] | undefined,
): string {
  const name = isListing(action) ? "" : "NAME";
  const where = place === undefined ? "PLACE" : placeText(place, action);
  return [resource.name, name, where].filter((part) => part !== "").join(" ");
}

/** `add tcp-lb NAME address ADDRESS upstream UPSTREAM ...`: the dots stand for other parameters. */
export function usageOf(
  resource: ResourceSpec,
  action: Action,
  place: readonly ResourceName[] | undefined,
  params: readonly ParamSpec[],
): string {
  const needed = action === "add" ? params.filter(({ required }) => required === true) : [];
  const others = params.length > needed.length ? ["..."] : [];
  return [action, subjectOf(resource, action, place), ...needed.map(paramTerm), ...others].join(
    " ",
  );
}
