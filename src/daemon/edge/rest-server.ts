import { randomUUID } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { type Answer, jsonAnswer, STATUS } from "../../control/http/answer.ts";
import { isOurHost, isOurOrigin } from "../../control/http/check-site.ts";
import { EventWatch } from "../../control/http/event-watch.ts";
import { createLimitedServer, serveWith } from "../../control/http/limited-server.ts";
import { HTTP_LIMITS, type HttpLimits } from "../../control/http/limits.ts";
import { readJsonBody } from "../../control/http/read-body.ts";
import { answerToFault, answerToRefused, HttpRefusal } from "../../control/http/refusal.ts";
import { Router } from "../../control/http/router.ts";
import { Slots } from "../../control/http/slots.ts";
import { COMMON_HEADERS, writeAnswer } from "../../control/http/write-answer.ts";
import { isPrivate, listenOn } from "../../control/listening.ts";
import { CoreError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { formatListenAddress, type ListenAddress } from "../../core/options/listen-address.ts";
import type { EdgeEvents, NumberedEvent } from "../../edge/environment/edge-events.ts";
import type { RestRoute } from "../../edge/rest/rest-routes.ts";

export interface RestServerOptions {
  readonly routes: readonly RestRoute[];
  readonly events: EdgeEvents;
  readonly log: Log;
  /** Told of each request that was answered. */
  readonly onAnswer: (path: string, status: number) => void;
  readonly limits?: Partial<HttpLimits>;
}

export interface RestServer {
  /** @returns where it listens. @throws CoreError ERR_REFUSED, ERR_LISTEN */
  listen(address: ListenAddress): Promise<ListenAddress>;
  /** Accepts no more; what was asked is answered, within a moment. */
  close(): Promise<void>;
}

/** A deployment waits for what it needs, which may take longer than other requests. */
const EDGE_LIMITS: HttpLimits = { ...HTTP_LIMITS, maxBodyBytes: 65_536, maxConnections: 256 };
const EVENTS_PATH = "/events";
const LAST_EVENT = "last-event-id";

/** The REST API of a node, on as many addresses as are wanted. */
export function createRestServer(options: RestServerOptions): RestServer {
  const limits: HttpLimits = { ...EDGE_LIMITS, ...options.limits };
  const { events } = options;
  const watch = new EventWatch((send) => events.listen((event) => send(eventText(event))), limits);
  const answer = createAnswerer(options, limits);
  const servers: Server[] = [];
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    void answer(request, response).then((result) => {
      const path = pathOf(request);
      if (result !== "events") {
        options.onAnswer(path, result.status);
        writeAnswer(request, response, result);
        return;
      }
      try {
        const missed = missedOf(events, request.headers[LAST_EVENT]);
        watch.open(response, COMMON_HEADERS, missed);
        options.onAnswer(path, STATUS.ok);
      } catch (error) {
        const refused = answerToRefused(error) ?? answerToFault(error, randomUUID());
        options.onAnswer(path, refused.status);
        writeAnswer(request, response, refused);
      }
    });
  };
  return {
    listen: async (address) => {
      refuseOpen(address);
      const server = createLimitedServer(limits);
      server.maxConnections = limits.maxConnections;
      serveWith(server, handle);
      const bound = await listenOn(server, address, { protocol: "edge REST", option: "--listen" });
      server.on("error", (error) => options.log.error({ err: error }, "edge REST"));
      servers.push(server);
      return bound;
    },
    close: async () => {
      watch.close();
      await Promise.all(servers.map((server) => closeServer(server, limits.closeGraceMs)));
    },
  };
}

type Answerer = (request: IncomingMessage, response: ServerResponse) => Promise<Answer | "events">;

function createAnswerer({ routes, log }: RestServerOptions, limits: HttpLimits): Answerer {
  const router = new Router<{ method: string; path: string; route?: RestRoute }>([
    ...routes.map((route) => ({ method: route.method, path: route.path, route })),
    { method: "GET", path: EVENTS_PATH },
  ]);
  const paths = [...routes.map(({ path }) => path), EVENTS_PATH].join(" ");
  const work = new Slots(limits.maxInWork, () => {
    const message = `${limits.maxInWork} requests are in work, which is the limit; try again later`;
    return new HttpRefusal(STATUS.unavailable, "ERR_REFUSED", message, { "retry-after": "1" });
  });
  return async (request, response) => {
    const { method = "" } = request;
    const path = pathOf(request);
    try {
      checkSite(request);
      const found = router.find(method, path);
      if (found.kind === "other methods") {
        const allow = found.methods.join(", ");
        const message = `${method} is not for ${path}; expected ${allow}`;
        throw new HttpRefusal(STATUS.methodNotAllowed, "ERR_USAGE", message, { allow });
      }
      if (found.kind !== "route") {
        const message = `there is no ${path}; expected one of ${paths}`;
        throw new HttpRefusal(STATUS.notFound, "ERR_NOT_FOUND", message);
      }
      const { route } = found.route;
      if (route === undefined) return "events";
      const sendContinue = (): void => {
        if (request.headers.expect !== undefined) response.writeContinue();
      };
      const readBody = () => readJsonBody(request, limits.maxBodyBytes, sendContinue);
      const value = await work.take(() => route.answer({ names: found.names, readBody }));
      return jsonAnswer(STATUS.ok, value);
    } catch (error) {
      const refused = answerToRefused(error);
      if (refused !== undefined) return refused;
      const errId = randomUUID();
      log.error({ errId, err: error, method, path }, "a request failed");
      return answerToFault(error, errId);
    }
  };
}

/** No page of a browser can use it, by whatever name it calls this machine. */
function checkSite({ headers, socket }: IncomingMessage): void {
  const { host, origin } = headers;
  const isUnix = socket.remoteAddress === undefined;
  if (!isUnix && !isOurHost(host, new Set())) {
    const message = `host: ${JSON.stringify(host)} is not a name of this node; call it by its address`;
    throw new HttpRefusal(STATUS.forbidden, "ERR_REFUSED", message);
  }
  if (isOurOrigin(origin, host)) return;
  const message = `origin: ${JSON.stringify(origin)} is another site; pages may not use this API`;
  throw new HttpRefusal(STATUS.forbidden, "ERR_REFUSED", message);
}

function refuseOpen(address: ListenAddress): void {
  if (isPrivate(address)) return;
  const message = `--listen: ${formatListenAddress(address)} could be reached by others, and whoever reaches this API changes the network of this machine; expected a loopback address or unix:PATH`;
  throw new CoreError("ERR_REFUSED", message);
}

function pathOf({ url = "/" }: IncomingMessage): string {
  return url.split("?", 1)[0] ?? "/";
}

/** Whoever comes back says which one was the last that it had. */
function missedOf(events: EdgeEvents, last: string | readonly string[] | undefined): string {
  if (typeof last !== "string" || !/^\d{1,15}$/.test(last)) return "";
  return events.since(Number(last)).map(eventText).join("");
}

function eventText({ id, at, event }: NumberedEvent): string {
  const { type } = event;
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify({ ...event, at })}\n\n`;
}

async function closeServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const end = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(end);
}
