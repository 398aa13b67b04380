import { type IncomingMessage, request } from "node:http";
import { createInterface } from "node:readline";
import { CoreError } from "../../core/errors.ts";
import { isErrorCode } from "./error-codes.ts";
import {
  INSTANCE_REQUESTS,
  INSTANCE_STREAMS,
  INSTANCE_VERSION,
  type InstanceRequests,
  type InstanceStreams,
  type RequestName,
  refusalSchema,
  type StreamName,
} from "./protocol.ts";
import { socketAddress } from "./socket-address.ts";

const OK = 200;

/**
 * Asks the instance that listens there.
 * @throws CoreError ERR_INSTANCE where none answers; what it says where it refuses
 */
export async function callInstance<N extends RequestName>(
  path: string,
  name: N,
  params: InstanceRequests[N]["params"],
): Promise<InstanceRequests[N]["result"]> {
  const response = await post(path, name, params);
  const body = await readText(path, response);
  const answer = parseJson(path, body);
  if (response.statusCode !== OK) throw refusalOf(path, response, answer);
  const result = INSTANCE_REQUESTS[name].result.safeParse(answer);
  if (result.success) return result.data;
  throw notUnderstood(path, result.error);
}

/**
 * Follows what the instance tells, until the signal ends it or the instance does.
 * @throws CoreError ERR_INSTANCE where none answers; what it says where it refuses
 */
export async function followInstance<N extends StreamName>(
  path: string,
  name: N,
  params: InstanceStreams[N]["params"],
  signal: AbortSignal,
): Promise<AsyncIterable<InstanceStreams[N]["item"]>> {
  const response = await post(path, name, params, signal);
  if (response.statusCode === OK) return itemsOf(path, name, response, signal);
  throw refusalOf(path, response, parseJson(path, await readText(path, response)));
}

async function* itemsOf<N extends StreamName>(
  path: string,
  name: N,
  response: IncomingMessage,
  signal: AbortSignal,
): AsyncGenerator<InstanceStreams[N]["item"]> {
  try {
    for await (const line of createInterface({ input: response })) {
      const item = INSTANCE_STREAMS[name].item.safeParse(parseJson(path, line));
      if (!item.success) throw notUnderstood(path, item.error);
      yield item.data;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    response.destroy();
  }
}

function post(
  path: string,
  name: string,
  params: object,
  signal?: AbortSignal,
): Promise<IncomingMessage> {
  const body = JSON.stringify(params);
  return new Promise((resolve, reject) => {
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    };
    const call = request(
      {
        socketPath: socketAddress(path),
        path: `/v${INSTANCE_VERSION}/${name}`,
        method: "POST",
        headers,
        // A connection of its own: the next call may be to another process at the same path.
        agent: false,
        ...(signal && { signal }),
      },
      resolve,
    );
    call.on("error", (cause) => reject(unreachable(path, cause)));
    call.end(body);
  });
}

async function readText(path: string, response: IncomingMessage): Promise<string> {
  let text = "";
  try {
    for await (const chunk of response.setEncoding("utf8")) text += String(chunk);
  } catch (error) {
    throw unreachable(path, error instanceof Error ? error : new Error(String(error)));
  }
  return text;
}

function parseJson(path: string, body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw notUnderstood(path, error);
  }
}

function refusalOf(path: string, { statusCode }: IncomingMessage, answer: unknown): CoreError {
  const { data } = refusalSchema.safeParse(answer);
  if (data === undefined)
    return new CoreError("ERR_INSTANCE", `${path}: HTTP status ${statusCode}`);
  const code = isErrorCode(data.code) ? data.code : "ERR_INSTANCE";
  return new CoreError(code, data.message, { problems: data.problems });
}

function notUnderstood(path: string, cause: unknown): CoreError {
  return new CoreError(
    "ERR_INSTANCE",
    `what answers at ${path} is not understood; both must be of versions that know each other`,
    { cause },
  );
}

function unreachable(path: string, cause: Error): CoreError {
  const why = "code" in cause ? String(cause.code) : cause.message;
  return new CoreError(
    "ERR_INSTANCE",
    `no instance answers at ${path} (${why}); start one, or name the state folder of the one that runs with --state`,
    { cause },
  );
}
