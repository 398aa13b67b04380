import { CoreError } from "../../core/errors.ts";
import type { Action, ParamInput, ResourceCommand, ResourceRef } from "../command.ts";
import type { Control } from "../control.ts";
import type { Result } from "../result.ts";
import { type Answer, createdAnswer, doneAnswer, jsonAnswer, STATUS } from "./answer.ts";
import type { ApiRequest } from "./api-request.ts";
import { errorByFields, readBodyParams } from "./body-params.ts";
import { ThingReader } from "./read-things.ts";
import { fieldsOf, jsonRecord } from "./render-result.ts";
import { actionOf, paramsOf, type ResourceRoute } from "./resource-routes.ts";

/** Translates a request into a command, and what comes of it into an answer: nothing else. */
export async function answerResource(
  control: Control,
  route: ResourceRoute,
  request: ApiRequest,
): Promise<Answer> {
  const { resource, use } = route;
  const within = route.within.map((type) => ({ type, name: nameOf(request, type) }));
  const reader = new ThingReader(control, request.caller);
  switch (use) {
    case "list":
      return listAnswer(route, await reader.run(actionOf(route), resource.name, within));
    case "one":
      return jsonAnswer(
        STATUS.ok,
        await reader.one(resource, nameOf(request, resource.name), within),
      );
    case "detail": {
      const record = await reader.one(resource, nameOf(request, resource.name), within);
      return jsonAnswer(STATUS.ok, await reader.withContents(resource, record, within));
    }
    case "add":
    case "update":
      return changeAnswer(control, route, within, request);
    case "remove":
      return removeAnswer(control, route, within, request);
  }
}

function nameOf(request: ApiRequest, type: string): string {
  return request.names.get(type) ?? "";
}

function listAnswer(route: ResourceRoute, result: Result): Answer {
  switch (result.kind) {
    case "records": {
      const fields = fieldsOf(route.resource);
      return jsonAnswer(
        STATUS.ok,
        result.records.map((record) => jsonRecord(record, fields)),
      );
    }
    case "names":
      return jsonAnswer(STATUS.ok, result.names);
    case "number":
      return jsonAnswer(STATUS.ok, { value: result.value });
    case "text":
      return jsonAnswer(STATUS.ok, { text: result.text });
    case "done":
      return doneAnswer(result.note);
  }
}

async function changeAnswer(
  control: Control,
  route: ResourceRoute,
  within: readonly ResourceRef[],
  request: ApiRequest,
): Promise<Answer> {
  const action = actionOf(route);
  const specs = paramsOf(route);
  const pathName = nameOf(request, route.resource.name);
  const body = await request.readBody();
  const refused = route.actions[action]?.refused;
  const { name, params } = readBodyParams(body, specs, action, pathName, refused);
  const command = commandOf(route, action, name, within, params);
  const result = await control
    .run(command, request.caller, request.condition)
    .catch((error: unknown) => {
      throw errorByFields(error, specs);
    });
  const note = result.kind === "done" ? result.note : "";
  if (action !== "add") return doneAnswer(note);
  const location = `${locationOf(route, request)}/${encodeURIComponent(name)}`;
  return createdAnswer(location, name, note);
}

function locationOf({ path }: ResourceRoute, request: ApiRequest): string {
  return path.replaceAll(/\{([^}]+)\}/g, (_, type: string) =>
    encodeURIComponent(nameOf(request, type)),
  );
}

async function removeAnswer(
  control: Control,
  route: ResourceRoute,
  within: readonly ResourceRef[],
  request: ApiRequest,
): Promise<Answer> {
  const isForced = readForce(request.query);
  if (isForced && route.actions["force-remove"] === undefined) {
    throw new CoreError("ERR_USAGE", `force: ${route.resource.name} has no such removal`);
  }
  const name = nameOf(request, route.resource.name);
  const action = isForced ? "force-remove" : "remove";
  const command = commandOf(route, action, name, within, new Map());
  const result = await control.run(command, request.caller, request.condition);
  return listAnswer(route, result);
}

function readForce(query: URLSearchParams): boolean {
  const force = query.get("force");
  if (force === null || force === "false") return false;
  if (force === "true") return true;
  throw new CoreError(
    "ERR_USAGE",
    `force: ${JSON.stringify(force)} is not valid; expected true or false`,
  );
}

function commandOf(
  route: ResourceRoute,
  action: Action,
  name: string,
  within: readonly ResourceRef[],
  params: ReadonlyMap<string, ParamInput>,
): ResourceCommand {
  return { kind: "resource", action, type: route.resource.name, name, within, params };
}
