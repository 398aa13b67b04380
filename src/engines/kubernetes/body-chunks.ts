import type { IncomingMessage } from "node:http";
import { CoreError, messageOf } from "../../core/errors.ts";

/**
 * The bytes of an answer as they come.
 * @param idleTimeoutMs so long nothing may come: a peer that is gone says nothing
 * @throws CoreError ERR_ABORTED where the signal ended it; ERR_API_UNREACHABLE where it broke off
 */
export async function* bodyChunks(
  body: IncomingMessage,
  idleTimeoutMs: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const timer = setTimeout(
    () => body.destroy(new Error(`nothing came for ${idleTimeoutMs} ms`)),
    idleTimeoutMs,
  );
  try {
    for await (const chunk of body) {
      timer.refresh();
      yield chunk;
    }
  } catch (cause) {
    if (signal.aborted) throw new CoreError("ERR_ABORTED", "the answer was ended", { cause });
    const reason = messageOf(cause);
    throw new CoreError("ERR_API_UNREACHABLE", `the Kubernetes API broke off: ${reason}`, {
      cause,
    });
  } finally {
    clearTimeout(timer);
    body.destroy();
  }
}
