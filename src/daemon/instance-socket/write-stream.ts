import { once } from "node:events";
import type { ServerResponse } from "node:http";

const OK = 200;

/** Writes a line of JSON for each item, no faster than the other end reads. Settles when either ends it. */
export async function writeStream(
  response: ServerResponse,
  items: AsyncIterable<unknown>,
  signal: AbortSignal,
): Promise<void> {
  response.writeHead(OK, { "content-type": "application/x-ndjson", "cache-control": "no-store" });
  response.flushHeaders();
  try {
    for await (const item of items) {
      if (!response.write(`${JSON.stringify(item)}\n`)) await once(response, "drain", { signal });
    }
    response.end();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
