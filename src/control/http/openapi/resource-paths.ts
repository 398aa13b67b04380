import { camelCase } from "../render-result.ts";
import { actionOf, paramsOf, type ResourceRoute } from "../resource-routes.ts";
import { bodySchema, type JsonSchema, recordSchema } from "./param-schema.ts";
import { jsonContent, jsonResponse, OF_CHANGES, OF_READS, ref, refusals } from "./responses.ts";

/** What a route is in the document. */
export function resourceOperation(route: ResourceRoute): JsonSchema {
  const { resource, use } = route;
  const action = route.actions[actionOf(route)];
  const examples = examplesHere(route).map((line) => `    ${line}`);
  return {
    operationId: camelCase([use, ...placeWords(route)].join("-")),
    tags: [resource.name],
    summary: isOfOne(route)
      ? `Shows one ${resource.name}${use === "detail" ? ", with all that is in it" : ""}`
      : (action?.help ?? resource.summary),
    ...(examples.length === 0 ? {} : { description: `As a command:\n\n${examples.join("\n")}` }),
    parameters: parametersOf(route),
    ...bodyOf(route),
    responses: responsesOf(route),
  };
}

function isOfOne({ use }: ResourceRoute): boolean {
  return use === "one" || use === "detail";
}

/** Those of the action's examples that are about this place. */
function examplesHere(route: ResourceRoute): readonly string[] {
  const { within, actions } = route;
  const places = /\b(?:in|to|from) /g;
  return (actions[actionOf(route)]?.examples ?? []).filter(
    (line) =>
      (line.match(places) ?? []).length === within.length &&
      within.every((type) => line.includes(` ${type} `)),
  );
}

/** Schemas that the operations of a route name. */
export function resourceSchemas(route: ResourceRoute): readonly (readonly [string, JsonSchema])[] {
  const params = paramsOf(route);
  switch (route.use) {
    case "list":
    case "one":
      return isCounter(route) ? [] : [[placeName(route), recordSchema(paramsOfPlace(route))]];
    case "add":
    case "update":
      return [[`${placeName(route)}.${route.use}`, bodySchema(params, route.use === "add")]];
    case "detail":
    case "remove":
      return [];
  }
}

function paramsOfPlace({ actions }: ResourceRoute): ReturnType<typeof paramsOf> {
  const byField = new Map<string, ReturnType<typeof paramsOf>[number]>();
  for (const param of [...(actions.add?.params ?? []), ...(actions.update?.params ?? [])]) {
    const isSecret = param.kind === "text" && param.secret === true;
    if (!isSecret && !byField.has(param.field)) byField.set(param.field, param);
  }
  return [...byField.values()];
}

/** `server-group-in-upstream`; what can not be set looks the same in every place. */
function placeName(route: ResourceRoute): string {
  const { resource, within } = route;
  return paramsOfPlace(route).length === 0
    ? resource.name
    : [resource.name, ...within].join("-in-");
}

function placeWords({ resource, within }: ResourceRoute): readonly string[] {
  return [resource.name, ...within.flatMap((type) => ["in", type])];
}

function isCounter({ resource }: ResourceRoute): boolean {
  return resource.section === "statistics";
}

function namesIn({ path }: ResourceRoute): readonly string[] {
  return [...path.matchAll(/\{([^}]+)\}/g)].map(([, type = ""]) => type);
}

function nameParameter(type: string): string {
  return `name.${type}`;
}

/** Parameters that a route's path names, by their names in the document. */
export function nameParameters(route: ResourceRoute): readonly (readonly [string, JsonSchema])[] {
  return namesIn(route).map((type) => [
    nameParameter(type),
    {
      name: type,
      in: "path",
      required: true,
      description: `Name of the ${type}; a slash in it is written %2F.`,
      schema: { type: "string" },
    },
  ]);
}

function parametersOf(route: ResourceRoute): readonly JsonSchema[] {
  const names = namesIn(route).map((type) => ref("parameters", nameParameter(type)));
  const condition = route.method === "GET" ? "IfNoneMatch" : "IfMatch";
  const force = route.use === "remove" && route.actions["force-remove"] !== undefined;
  return [...names, ...(force ? [ref("parameters", "Force")] : []), ref("parameters", condition)];
}

function bodyOf(route: ResourceRoute): JsonSchema {
  if (route.use !== "add" && route.use !== "update") return {};
  const schema = ref("schemas", `${placeName(route)}.${route.use}`);
  return { requestBody: { required: true, content: jsonContent(schema) } };
}

function responsesOf(route: ResourceRoute): JsonSchema {
  switch (route.use) {
    case "list":
      return { "200": readResponse(listSchema(route)), ...READ_REFUSALS };
    case "one":
      return { "200": readResponse(ref("schemas", placeName(route))), ...READ_REFUSALS };
    case "detail":
      return { "200": readResponse(detailSchema(route)), ...READ_REFUSALS };
    case "add":
      return { "201": ref("responses", "Created"), ...refusals(OF_CHANGES) };
    case "update":
      return { ...DONE, ...refusals(OF_CHANGES) };
    case "remove":
      return { ...DONE, ...refusals(OF_CHANGES) };
  }
}

const DONE = { "200": ref("responses", "Noted"), "204": { description: "Done." } };
const READ_REFUSALS = {
  "304": { description: "Nothing has changed since If-None-Match." },
  ...refusals(OF_READS),
};

function readResponse(schema: JsonSchema): JsonSchema {
  return { ...jsonResponse("What is there.", schema), headers: { ETag: ref("headers", "ETag") } };
}

function listSchema(route: ResourceRoute): JsonSchema {
  if (isCounter(route)) return ref("schemas", "Value");
  return { type: "array", items: ref("schemas", placeName(route)) };
}

function detailSchema(route: ResourceRoute): JsonSchema {
  return { allOf: [ref("schemas", placeName(route)), ref("schemas", "Contents")] };
}
