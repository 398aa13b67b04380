import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "../../core/log.ts";
import { formatHostPort } from "../../core/model/address.ts";
import type { Caller } from "../command.ts";
import type { Condition, Control } from "../control.ts";
import { type Answer, STATUS } from "./answer.ts";
import type { ApiRequest } from "./api-request.ts";
import type { BearerToken } from "./bearer-token.ts";
import { isOurHost, isOurOrigin } from "./check-site.ts";
import type { Endpoint, StreamAnswer } from "./endpoints.ts";
import type { EntityTags } from "./entity-tags.ts";
import type { HttpLimits } from "./limits.ts";
import { readJsonBody } from "./read-body.ts";
import { answerToFault, answerToRefused, HttpRefusal } from "./refusal.ts";
import type { Router } from "./router.ts";
import { Slots } from "./slots.ts";
import { COMMON_HEADERS, writeAnswer } from "./write-answer.ts";

export interface RequestHandlerOptions {
  readonly router: Router<Endpoint>;
  readonly control: Control;
  readonly tags: EntityTags;
  readonly token: BearerToken | undefined;
  /** Told of a connection when a request on it has brought the token. */
  readonly onTrusted: (socket: Socket) => void;
  /** Names that a `Host` header may have, beside addresses and `localhost`; undefined: any. */
  readonly hosts: ReadonlySet<string> | undefined;
  readonly maySystem: boolean;
  readonly limits: HttpLimits;
  readonly log: Log;
}

interface Wanted {
  readonly endpoint: Endpoint;
  readonly names: ReadonlyMap<string, string>;
  readonly query: URLSearchParams;
}

/** May be kept by whoever asked, and must be asked for again. */
const TAGGED_CACHE = "private, no-cache";
const RETRY = { "retry-after": "1" };

/** Answers requests: who may ask, where it leads, what comes of it. */
export class RequestHandler {
  readonly #options: RequestHandlerOptions;
  readonly #work: Slots;
  /** Of their own, so that whoever has no token takes no room from those who have it. */
  readonly #guesses: Slots;
  #isEnding = false;

  constructor(options: RequestHandlerOptions) {
    this.#options = options;
    const { maxInWork } = options.limits;
    this.#work = new Slots(maxInWork, () => busy(maxInWork));
    this.#guesses = new Slots(maxInWork, tooManyGuesses);
  }

  /** From now on every answer is the last on its connection. */
  endConnections(): void {
    this.#isEnding = true;
  }

  /** Never throws: a request that can not be answered ends its connection. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const answer = await this.#answer(request, response);
      // Whoever asked may be gone.
      if (response.destroyed) return;
      if (this.#isEnding) response.shouldKeepAlive = false;
      if ("open" in answer) this.#openStream(answer, request, response);
      else writeAnswer(request, response, answer);
    } catch (error) {
      this.#fault(request, error);
      response.destroy();
    }
  }

  #openStream(answer: StreamAnswer, request: IncomingMessage, response: ServerResponse): void {
    try {
      answer.open(response, COMMON_HEADERS);
    } catch (error) {
      const refused = answerToRefused(error);
      if (refused === undefined) throw error;
      writeAnswer(request, response, refused);
    }
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<Answer | StreamAnswer> {
    try {
      const { endpoint, names, query } = await this.#admit(request);
      if (endpoint.isOpen)
        return await endpoint.answer(this.#apiRequest(request, response, names, query));
      return await this.#work.take(() =>
        this.#answerTagged(endpoint, request, this.#apiRequest(request, response, names, query)),
      );
    } catch (error) {
      return answerToRefused(error) ?? this.#fault(request, error);
    }
  }

  #fault(request: IncomingMessage, error: unknown): Answer {
    const errId = randomUUID();
    const { method, url } = request;
    this.#options.log.error({ errId, err: error, method, url }, "a request failed");
    return answerToFault(error, errId);
  }

  /** @throws HttpRefusal */
  async #admit(request: IncomingMessage): Promise<Wanted> {
    const { router } = this.#options;
    const { method = "", url = "" } = request;
    const [path = "", ...queries] = url.split("?");
    const found = router.find(method, path);
    const isOpen = found.kind === "route" && found.route.isOpen;
    this.#checkSite(request, isOpen);
    if (!isOpen) await this.#checkToken(request);
    switch (found.kind) {
      case "malformed":
        throw new HttpRefusal(
          STATUS.badRequest,
          "ERR_USAGE",
          "the path is not valid; expected UTF-8 with valid % escapes",
        );
      case "unknown":
        throw new HttpRefusal(
          STATUS.notFound,
          "ERR_NOT_FOUND",
          `there is no ${path}; /api/v1/openapi.json has all paths`,
        );
      case "other methods": {
        const allow = found.methods.join(", ");
        const message = `${method} is not for ${path}; expected ${allow}`;
        throw new HttpRefusal(STATUS.methodNotAllowed, "ERR_USAGE", message, { allow });
      }
      case "route": {
        const query = new URLSearchParams(queries.join("?"));
        checkQuery(query, found.route);
        return { endpoint: found.route, names: found.names, query };
      }
    }
  }

  #checkSite({ headers, url }: IncomingMessage, isOpen: boolean): void {
    // Those who watch a service call it by whatever name they have for it.
    if (isOpen && url === "/healthz") return;
    const { host, origin } = headers;
    const { hosts } = this.#options;
    if (hosts !== undefined && !isOurHost(host, hosts)) {
      const message = `host: ${JSON.stringify(host)} is not a name of this controller; call it by its address, or name it in --http-hosts`;
      throw new HttpRefusal(STATUS.forbidden, "ERR_REFUSED", message);
    }
    if (!isOurOrigin(origin, host)) {
      const message = `origin: ${JSON.stringify(origin)} is another site; pages of other sites may not use this API`;
      throw new HttpRefusal(STATUS.forbidden, "ERR_REFUSED", message);
    }
  }

  async #checkToken({ headers, socket }: IncomingMessage): Promise<void> {
    const { token, limits, onTrusted } = this.#options;
    const { authorization: header } = headers;
    if (token === undefined || token.isIn(header)) {
      onTrusted(socket);
      return;
    }
    // Guessing is slow.
    await this.#guesses.take(() => delay(limits.wrongTokenDelayMs, undefined, { ref: false }));
    const message =
      header === undefined
        ? "authorization: missing; expected Bearer and the token of this controller"
        : "authorization: not the token of this controller";
    throw new HttpRefusal(STATUS.unauthorized, "ERR_UNAUTHORIZED", message, {
      "www-authenticate": 'Bearer realm="portolan"',
    });
  }

  async #answerTagged(
    endpoint: Endpoint,
    { headers }: IncomingMessage,
    request: ApiRequest,
  ): Promise<Answer | StreamAnswer> {
    const { control, tags } = this.#options;
    const { revision } = control;
    const answer = await endpoint.answer(request);
    if (!endpoint.isTagged || "open" in answer || answer.body === undefined) return answer;
    const etag = tags.of(revision, answer.body);
    const tagged = { ...answer.headers, etag, "cache-control": TAGGED_CACHE };
    const ifNoneMatch = headers["if-none-match"];
    if (ifNoneMatch !== undefined && tags.isNamed(ifNoneMatch, etag)) {
      return { status: STATUS.notModified, headers: tagged, body: undefined };
    }
    return { ...answer, headers: tagged };
  }

  #apiRequest(
    request: IncomingMessage,
    response: ServerResponse,
    names: ReadonlyMap<string, string>,
    query: URLSearchParams,
  ): ApiRequest {
    const { limits, maySystem } = this.#options;
    const caller: Caller = { via: "http", from: placeOf(request), maySystem };
    const sendContinue = (): void => {
      if (request.headers.expect !== undefined) response.writeContinue();
    };
    return {
      names,
      query,
      caller,
      readBody: () => readJsonBody(request, limits.maxBodyBytes, sendContinue),
      condition: this.#conditionOf(request.headers["if-match"]),
    };
  }

  #conditionOf(ifMatch: string | undefined): Condition | undefined {
    if (ifMatch === undefined) return undefined;
    return (revision) => {
      if (!this.#options.tags.isCurrent(ifMatch, revision)) throw changedMeanwhile(ifMatch);
    };
  }
}

function placeOf({ socket }: IncomingMessage): string {
  const { remoteAddress, remotePort } = socket;
  if (remoteAddress === undefined || remotePort === undefined) return "unix";
  return formatHostPort(remoteAddress, remotePort);
}

function checkQuery(query: URLSearchParams, endpoint: Endpoint): void {
  const unknown = [...query.keys()].find((key) => !endpoint.query.includes(key));
  if (unknown === undefined) return;
  const known = endpoint.query.length === 0 ? "no query" : endpoint.query.join(", ");
  const message = `query: ${JSON.stringify(unknown)} is not known here; expected ${known}`;
  throw new HttpRefusal(STATUS.badRequest, "ERR_USAGE", message);
}

function busy(maxInWork: number): HttpRefusal {
  const message = `${maxInWork} requests are in work, which is the limit; try again later`;
  return new HttpRefusal(STATUS.unavailable, "ERR_REFUSED", message, RETRY);
}

function tooManyGuesses(): HttpRefusal {
  const message = "authorization: too many requests without the right token; try again later";
  return new HttpRefusal(STATUS.tooMany, "ERR_UNAUTHORIZED", message, RETRY);
}

function changedMeanwhile(ifMatch: string): HttpRefusal {
  const message = `if-match: ${JSON.stringify(ifMatch)} is not the present state; read it again`;
  return new HttpRefusal(STATUS.preconditionFailed, "ERR_REFUSED", message);
}
