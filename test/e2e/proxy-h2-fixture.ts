import { once } from "node:events";
import { createServer as createHttp1Server, type RequestListener } from "node:http";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  createServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
  type ServerOptions,
} from "node:http2";
import { onTestFinished } from "vitest";
import type { EngineConfig } from "../../src/proxy/engine-config.ts";
import { configOf, LOCAL } from "./proxy-config.ts";
import { TestEngine } from "./proxy-fixture.ts";

export type Serve = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

export interface H2Server {
  readonly port: number;
  /** Of those who are connected to it. */
  readonly sessions: ReadonlySet<Http2Session>;
}

/** A server that speaks HTTP/2 without TLS, gone when the test has finished. */
export async function startH2Server(serve: Serve, options: ServerOptions = {}): Promise<H2Server> {
  const server = createServer(options);
  const sessions = new Set<Http2Session>();
  server.on("stream", (stream, headers) => {
    stream.on("error", () => undefined);
    serve(stream, headers);
  });
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });
  server.listen(0, LOCAL);
  await once(server, "listening");
  onTestFinished(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  const address = server.address();
  return { port: typeof address === "object" && address !== null ? address.port : 0, sessions };
}

/** The port of one. */
export async function startH2(serve: Serve): Promise<number> {
  return (await startH2Server(serve)).port;
}

export const named =
  (name: string): Serve =>
  (stream) => {
    stream.resume();
    stream.respond({ ":status": 200 });
    stream.end(name);
  };

export const echoBody: Serve = (stream) => {
  stream.respond({ ":status": 200 });
  stream.pipe(stream);
};

export async function startProxy(
  ports: readonly number[],
  changes: Parameters<typeof configOf>[1] = {},
): Promise<TestEngine> {
  const proxy = await TestEngine.start();
  await proxy.engine.apply(h2Config(ports, changes));
  return proxy;
}

export function h2Config(
  ports: readonly number[],
  changes: Parameters<typeof configOf>[1] = {},
): EngineConfig {
  return configOf(ports, { ...changes, listener: { mode: "h2", ...changes.listener } });
}

/** A client that is connected. */
export async function dialH2(port: number): Promise<ClientHttp2Session> {
  const session = connect(`http://${LOCAL}:${port}`);
  session.on("error", () => undefined);
  onTestFinished(() => session.destroy());
  await once(session, "remoteSettings");
  return session;
}

export interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly trailers: IncomingHttpHeaders;
}

export async function send(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders = {},
  body?: Buffer,
): Promise<Answer> {
  const stream = session.request(headers, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  return answerOf(stream);
}

export async function answerOf(stream: ClientHttp2Stream): Promise<Answer> {
  let trailers: IncomingHttpHeaders = {};
  stream.on("trailers", (fields) => {
    trailers = fields;
  });
  const parts: Buffer[] = [];
  stream.on("data", (part) => parts.push(part));
  const [headers] = await once(stream, "response");
  if (!stream.closed) await once(stream, "close");
  return { status: headers[":status"], headers, trailers, body: Buffer.concat(parts).toString() };
}

/** A server that speaks HTTP/1.1 only. */
export async function startHttp1(listener: RequestListener): Promise<number> {
  const server = createHttp1Server(listener);
  server.listen(0, LOCAL);
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** The error code with which a stream was reset, when it has closed. */
export async function resetCodeOf(stream: ClientHttp2Stream): Promise<number> {
  stream.on("error", () => undefined).resume();
  // Not `once`: that fails with the error of the stream.
  if (!stream.closed) await new Promise((resolve) => stream.on("close", resolve));
  return stream.rstCode ?? 0;
}
