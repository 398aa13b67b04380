import type { IncomingMessage, ServerResponse } from "node:http";
import { CoreError, messageOf } from "../../core/errors.ts";
import { problemsError } from "../../core/model/problems.ts";
import { checkAgainst } from "../../core/model/zod-problems.ts";
import {
  INSTANCE_REQUESTS,
  INSTANCE_STREAMS,
  INSTANCE_VERSION,
  type InstanceRequests,
  type InstanceStreams,
  isRequestName,
  isStreamName,
  type Refusal,
  type RequestName,
  type StreamName,
} from "./protocol.ts";
import { writeStream } from "./write-stream.ts";

type RequestHandlers = {
  readonly [N in RequestName]: (
    params: InstanceRequests[N]["params"],
  ) => Promise<InstanceRequests[N]["result"]> | InstanceRequests[N]["result"];
};

type StreamHandlers = {
  /** Refuses before it gives anything. It ends with the signal. */
  readonly [N in StreamName]: (
    params: InstanceStreams[N]["params"],
    signal: AbortSignal,
  ) => AsyncIterable<InstanceStreams[N]["item"]>;
};

/** Who answers; one for each request and each stream. */
export type InstanceHandlers = RequestHandlers & StreamHandlers;

/** As large as a state file may be: what `apply` sends is one. */
const MAX_BODY_BYTES = 268_435_456;
const STATUS = { ok: 200, badRequest: 400, notFound: 404, failed: 500 } as const;

/** Answers one request; never rejects. */
export async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  handlers: InstanceHandlers,
): Promise<void> {
  try {
    const name = nameOf(request);
    const body = await readBody(request);
    if (isRequestName(name)) {
      write(response, STATUS.ok, await runRequest(name, body, handlers));
    } else if (isStreamName(name)) {
      await runStream(name, body, { handlers, response });
    } else {
      const message = `${request.method} ${request.url} is not known; expected POST to one of ${knownPaths()}`;
      write(response, STATUS.notFound, { code: "ERR_NOT_FOUND", message, problems: [] });
    }
  } catch (error) {
    refuse(response, error);
  }
}

function knownPaths(): string {
  const names = [...Object.keys(INSTANCE_REQUESTS), ...Object.keys(INSTANCE_STREAMS)];
  return names.map((name) => `/v${INSTANCE_VERSION}/${name}`).join(", ");
}

async function runRequest<N extends RequestName>(
  name: N,
  body: string,
  handlers: RequestHandlers,
): Promise<InstanceRequests[N]["result"]> {
  const params = checkAgainst(INSTANCE_REQUESTS[name].params, parseBody(name, body));
  if (params.ok) return handlers[name](params.value);
  throw problemsError("ERR_USAGE", params.problems);
}

async function runStream<N extends StreamName>(
  name: N,
  body: string,
  { handlers, response }: { handlers: StreamHandlers; response: ServerResponse },
): Promise<void> {
  const params = checkAgainst(INSTANCE_STREAMS[name].params, parseBody(name, body));
  if (!params.ok) throw problemsError("ERR_USAGE", params.problems);
  const ended = new AbortController();
  response.once("close", () => ended.abort());
  const items = handlers[name](params.value, ended.signal);
  await writeStream(response, items, ended.signal);
}

/** An empty one asks for nothing in particular. */
function parseBody(name: string, body: string): unknown {
  try {
    return JSON.parse(body === "" ? "{}" : body);
  } catch (cause) {
    throw new CoreError("ERR_USAGE", `${name}: the body is not valid; expected a JSON object`, {
      cause,
    });
  }
}

/** Empty where it is none of this version. */
function nameOf({ method, url }: IncomingMessage): string {
  const prefix = `/v${INSTANCE_VERSION}/`;
  return method === "POST" && url?.startsWith(prefix) === true ? url.slice(prefix.length) : "";
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const part = Buffer.from(chunk);
    chunks.push(part);
    bytes += part.length;
    if (bytes > MAX_BODY_BYTES) {
      throw new CoreError("ERR_USAGE", `a request has at most ${MAX_BODY_BYTES} bytes`);
    }
  }
  return Buffer.concat(chunks).toString("utf8");
}

function refuse(response: ServerResponse, error: unknown): void {
  // Half an answer is no answer: who reads it sees it break off.
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const isOurs = error instanceof CoreError;
  const code = isOurs ? error.code : "ERR_INSTANCE";
  const message = messageOf(error);
  const status = code === "ERR_USAGE" ? STATUS.badRequest : STATUS.failed;
  write(response, status, { code, message, problems: isOurs ? error.problems : [] });
}

function write(response: ServerResponse, status: number, body: object | Refusal): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
}
