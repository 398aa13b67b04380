import { DEFAULT_HTTP1_LIMITS } from "../../wire/http1/http1-limits.ts";
import type { RequestContext } from "../../wire/http1/response-head.ts";
import { ResponseParser } from "../../wire/http1/response-parser.ts";
import type { CheckObservation } from "./evaluate-check.ts";

const MAX_BYTES = DEFAULT_HTTP1_LIMITS.maxHeadBytes;
const NO_BYTES = Buffer.alloc(0);
/** Where a body would end does not matter here. */
const CHECK_REQUEST: RequestContext = { method: "GET", asksUpgrade: true };

/** Reads the answer to an HTTP check: the status of each head, nothing of a body. */
export class HttpCheckReader {
  readonly #parser = new ResponseParser();
  #pending: Buffer = NO_BYTES;

  /** What the bytes show; empty where the head is not complete. */
  feed(chunk: Buffer): readonly CheckObservation[] {
    const bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    const seen: CheckObservation[] = [];
    let at = 0;
    for (;;) {
      const outcome = this.#parser.parse(bytes, at, bytes.length, CHECK_REQUEST);
      if (outcome.kind === "malformed")
        return [...seen, { kind: "not-http", reason: outcome.reason }];
      if (outcome.kind === "more") break;
      const { status, isInterim, end } = outcome.head;
      seen.push({ kind: "http-status", status });
      at = end;
      if (!isInterim) break;
    }
    this.#pending = bytes.subarray(at, at + MAX_BYTES + 1);
    return seen;
  }
}
