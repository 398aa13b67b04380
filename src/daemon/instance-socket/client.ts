import { type IncomingMessage, request } from "node:http";
import { CoreError } from "../../core/errors.ts";
import {
  INSTANCE_REQUESTS,
  INSTANCE_VERSION,
  type InstanceRequests,
  type RequestName,
  refusalSchema,
} from "./protocol.ts";

const OK = 200;

interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

/**
 * Asks the instance that listens there.
 * @throws CoreError ERR_INSTANCE where none answers, or it refuses
 */
export async function callInstance<N extends RequestName>(
  path: string,
  name: N,
  params: InstanceRequests[N]["params"],
): Promise<InstanceRequests[N]["result"]> {
  const { status, body } = await post(path, `/v${INSTANCE_VERSION}/${name}`, params);
  const answer = parseJson(path, body);
  if (status !== OK) {
    const { data } = refusalSchema.safeParse(answer);
    throw new CoreError("ERR_INSTANCE", data?.message ?? `${path}: HTTP status ${status}`);
  }
  const result = INSTANCE_REQUESTS[name].result.safeParse(answer);
  if (result.success) return result.data;
  throw notUnderstood(path, result.error);
}

function post(path: string, url: string, params: object): Promise<HttpAnswer> {
  const body = JSON.stringify(params);
  return new Promise((resolve, reject) => {
    const fail = (cause: Error): void => reject(unreachable(path, cause));
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    };
    // A connection of its own: the next call may be to another process at the same path.
    const options = { socketPath: path, path: url, method: "POST", headers, agent: false } as const;
    const call = request(options, (response) => {
      readText(response).then(
        (text) => resolve({ status: response.statusCode ?? 0, body: text }),
        fail,
      );
    });
    call.on("error", fail);
    call.end(body);
  });
}

async function readText(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += String(chunk);
  return text;
}

function parseJson(path: string, body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw notUnderstood(path, error);
  }
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
