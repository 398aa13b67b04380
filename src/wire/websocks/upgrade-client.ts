import { DEFAULT_HTTP1_LIMITS } from "../http1/http1-limits.ts";
import type { ResponseHead } from "../http1/response-head.ts";
import { ResponseParser } from "../http1/response-parser.ts";
import { acceptKey } from "./accept-key.ts";
import type { ClientStep, ClientTalk } from "./client-step.ts";
import { renderUpgradeRequest, type UpgradeRequest } from "./render-upgrade.ts";
import { SUB_PROTOCOL } from "./websocks-words.ts";

const LIMITS = { ...DEFAULT_HTTP1_LIMITS, maxHeadBytes: 8192 };
const REQUEST = { method: "GET", asksUpgrade: true };
const SWITCHING_PROTOCOLS = 101;
const UNAUTHORIZED = 401;
const NO_BYTES = Buffer.alloc(0);
const MORE: ClientStep = Object.freeze({ kind: "more" });

/** Asks a server for a tunnel, up to its 101. */
export class UpgradeClient implements ClientTalk {
  readonly first: Buffer;
  readonly #parser = new ResponseParser(LIMITS);
  readonly #accept: string;
  #bytes: Buffer = NO_BYTES;

  constructor(request: UpgradeRequest) {
    this.first = renderUpgradeRequest(request);
    this.#accept = acceptKey(request.key);
  }

  feed(chunk: Buffer): ClientStep {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    const outcome = this.#parser.parse(this.#bytes, 0, this.#bytes.length, REQUEST);
    switch (outcome.kind) {
      case "more":
        return MORE;
      case "malformed":
        return failed(outcome.reason);
      case "head":
        return this.#read(outcome.head);
    }
  }

  #read(head: ResponseHead): ClientStep {
    if (head.isInterim) {
      const rest = this.#bytes.subarray(head.end);
      this.#bytes = NO_BYTES;
      return rest.length === 0 ? MORE : this.feed(rest);
    }
    if (head.status === UNAUTHORIZED) {
      return failed("it answers 401: user, password or the clock of one of the two is wrong");
    }
    if (head.status !== SWITCHING_PROTOCOLS) return failed(`it answers ${head.status}, not 101`);
    if (fieldNamed(head, "sec-websocket-accept") !== this.#accept) {
      return failed("its Sec-WebSocket-Accept is not the one for our key");
    }
    if (fieldNamed(head, "sec-websocket-protocol") !== SUB_PROTOCOL) {
      return failed(`its Sec-WebSocket-Protocol is not ${SUB_PROTOCOL}`);
    }
    return { kind: "done", rest: this.#bytes.subarray(head.end) };
  }
}

function fieldNamed({ fields }: ResponseHead, name: string): string {
  for (let index = 0; index < fields.count; index += 1) {
    if (fields.name(index).toLowerCase() === name) return fields.value(index);
  }
  return "";
}

function failed(reason: string): ClientStep {
  return { kind: "failed", reason };
}
