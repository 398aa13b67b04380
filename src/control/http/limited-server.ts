import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { HttpLimits } from "./limits.ts";
import { refuseUnreadable } from "./refuse-unreadable.ts";

const PROBE_AFTER_MS = 60_000;

/** A server that gives nobody more time and room than the limits say. */
export function createLimitedServer(limits: HttpLimits): Server {
  const server = createServer({
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: limits.checkIntervalMs,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: PROBE_AFTER_MS,
  });
  server.timeout = limits.stallTimeoutMs;
  return server;
}

/** Has requests answered, also those that wait for a word before they send a body. */
export function serveWith(
  server: Server,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): void {
  const latest = new WeakMap<Duplex, ServerResponse>();
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    latest.set(request.socket, response);
    answer(request, response);
  };
  server.on("request", handle);
  // Whether a body is wanted at all is known only after the head was looked at.
  server.on("checkContinue", handle);
  server.on("clientError", (error, socket) => {
    const response = latest.get(socket);
    const isAwaited = response?.req.complete === true && !response.writableEnded;
    refuseUnreadable(error, socket, isAwaited);
  });
}
