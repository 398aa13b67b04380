import type { ServerResponse } from "node:http";
import { invalid, type Problem, problemsError, unknownKey } from "../../core/model/problems.ts";
import type { Control } from "../control.ts";
import { type Answer, jsonAnswer, STATUS } from "./answer.ts";
import type { ApiRequest } from "./api-request.ts";
import { isObject } from "./body-params.ts";
import type { EventWatch } from "./event-watch.ts";
import { openApiDocument } from "./openapi/openapi-document.ts";
import { PAGE } from "./page/page.ts";
import { answerPem, type KeepFile, type PemAction } from "./pem-endpoint.ts";
import { ThingReader } from "./read-things.ts";
import { answerResource } from "./resource-endpoint.ts";
import { API_PREFIX, type Method, planResourceRoutes } from "./resource-routes.ts";

/** An answer that goes on. */
export interface StreamAnswer {
  /** @throws HttpRefusal */
  open(response: ServerResponse, headers: Readonly<Record<string, string>>): void;
}

/** What is reached by a method and a path. */
export interface Endpoint {
  readonly method: Method;
  readonly path: string;
  /** Whether it answers without the token: nothing of the state is in it. */
  readonly isOpen: boolean;
  /** Keys that its query may have. */
  readonly query: readonly string[];
  /** Whether what it answers is of the state, and has an entity tag. */
  readonly isTagged: boolean;
  answer(request: ApiRequest): Promise<Answer | StreamAnswer> | Answer | StreamAnswer;
}

export interface EndpointOptions {
  readonly control: Control;
  readonly watch: EventWatch;
  readonly keepFile?: KeepFile | undefined;
  readonly status?: (() => unknown) | undefined;
}

/** All endpoints of a controller. */
export function planEndpoints(options: EndpointOptions): readonly Endpoint[] {
  return [...openEndpoints(options), ...resourceEndpoints(options), ...ownEndpoints(options)];
}

function openEndpoints({ control, ...given }: EndpointOptions): readonly Endpoint[] {
  const has = { status: given.status !== undefined, keepFile: given.keepFile !== undefined };
  const document = jsonAnswer(STATUS.ok, openApiDocument(control.resources, has));
  const open = (path: string, answer: Answer): Endpoint => ({
    method: "GET",
    path,
    isOpen: true,
    query: [],
    isTagged: false,
    answer: () => answer,
  });
  const text = { "content-type": "text/plain; charset=utf-8" };
  return [
    open("/", PAGE),
    open("/healthz", { status: STATUS.ok, headers: text, body: "OK\n" }),
    open(`${API_PREFIX}/openapi.json`, document),
  ];
}

function resourceEndpoints({ control }: EndpointOptions): readonly Endpoint[] {
  return planResourceRoutes(control.resources).map((route) => ({
    method: route.method,
    path: route.path,
    isOpen: false,
    query: route.use === "remove" ? ["force"] : [],
    isTagged: route.method === "GET",
    answer: (request) => answerResource(control, route, request),
  }));
}

function ownEndpoints(options: EndpointOptions): readonly Endpoint[] {
  const { control, watch, keepFile, status } = options;
  const guarded = { isOpen: false, query: [] } as const;
  const endpoints: Endpoint[] = [
    {
      ...guarded,
      method: "GET",
      path: `${API_PREFIX}/module/all`,
      isTagged: true,
      answer: async ({ caller }) =>
        jsonAnswer(STATUS.ok, await new ThingReader(control, caller).everything()),
    },
    {
      ...guarded,
      method: "POST",
      path: `${API_PREFIX}/command`,
      isTagged: false,
      answer: async ({ caller, readBody }) => {
        const command = control.parse(readCommandLine(await readBody()));
        return jsonAnswer(STATUS.ok, await control.run(command, caller));
      },
    },
    {
      ...guarded,
      method: "GET",
      path: `${API_PREFIX}/watch/server-group/-/server/-/health-check`,
      isTagged: false,
      answer: () => watch,
    },
  ];
  if (status !== undefined) {
    endpoints.push({
      ...guarded,
      method: "GET",
      path: `${API_PREFIX}/status`,
      isTagged: false,
      answer: async () => jsonAnswer(STATUS.ok, await status()),
    });
  }
  if (keepFile !== undefined) endpoints.push(...pemEndpoints(control, keepFile));
  return endpoints;
}

function pemEndpoints(control: Control, keepFile: KeepFile): readonly Endpoint[] {
  const certKey = control.resources.find(({ name }) => name === "cert-key");
  const can = (action: PemAction): boolean =>
    certKey?.scopes.some(({ actions }) => actions[action] !== undefined) === true;
  const endpoint = (method: Method, path: string, action: PemAction): Endpoint => ({
    method,
    path,
    isOpen: false,
    query: [],
    isTagged: false,
    answer: (request) => answerPem(control, action, keepFile, request),
  });
  const all = `${API_PREFIX}/module/cert-key`;
  return [
    ...(can("add") ? [endpoint("POST", `${all}/pem`, "add")] : []),
    ...(can("update") ? [endpoint("PUT", `${all}/{cert-key}/pem`, "update")] : []),
  ];
}

function readCommandLine(body: unknown): string {
  if (!isObject(body)) throw problemsError("ERR_USAGE", [invalid([], body, "a JSON object")]);
  const problems: Problem[] = Object.keys(body)
    .filter((key) => key !== "command")
    .map((key) => unknownKey([key], ["command"]));
  const line = body["command"];
  if (typeof line === "string" && problems.length === 0) return line;
  if (typeof line !== "string")
    problems.push(invalid(["command"], line, "a command as it is typed"));
  throw problemsError("ERR_USAGE", problems);
}
