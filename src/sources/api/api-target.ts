import type { ClientHttp2Session } from "node:http2";
import { connectHttp2, type Http2Target } from "../../platform/http2/connect-http2.ts";

/** Where an API is. */
export type ApiTarget = Http2Target;

/**
 * Connects to an API.
 * @param signal ends the wait
 * @throws CoreError ERR_API_UNREACHABLE, ERR_ABORTED, or ERR_CONFIG_INVALID where a TLS file can not be read
 */
export function connectApi(
  target: ApiTarget,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<ClientHttp2Session> {
  return connectHttp2(target, { what: "the API", code: "ERR_API_UNREACHABLE" }, timeoutMs, signal);
}
