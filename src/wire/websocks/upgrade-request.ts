import type { FieldTable } from "../http1/field-table.ts";
import { DEFAULT_HTTP1_LIMITS, type Http1Limits } from "../http1/http1-limits.ts";
import type { RequestHead } from "../http1/request-head.ts";
import { RequestParser } from "../http1/request-parser.ts";
import { isWebsocketKey } from "./accept-key.ts";
import { type BasicCredentials, readBasicCredentials } from "./basic-credentials.ts";
import { SUB_PROTOCOL, WEBSOCKET_VERSION } from "./websocks-words.ts";

/** What the first request of a connection is. */
export type FirstRequest =
  | { readonly kind: "more" }
  /** A request for a page, as browsers make them. */
  | { readonly kind: "page"; readonly method: string; readonly path: string }
  /** Somebody wants a tunnel, with these credentials or without any. */
  | {
      readonly kind: "upgrade";
      readonly key: string;
      readonly credentials: BasicCredentials | undefined;
      readonly rest: Buffer;
    }
  /** To be answered with that status. */
  | { readonly kind: "bad"; readonly status: number; readonly reason: string };

/** A tunnel needs few fields: whoever sends more is nobody that waits for one. */
const LIMITS: Http1Limits = { ...DEFAULT_HTTP1_LIMITS, maxHeadBytes: 8192, maxFields: 64 };

const NO_BYTES = Buffer.alloc(0);
const MORE: FirstRequest = Object.freeze({ kind: "more" });
const BAD_STATUS = 400;

/** Reads the request with which a connection begins. Not to be fed after its end. */
export class FirstRequestReader {
  readonly #parser = new RequestParser(LIMITS);
  #bytes: Buffer = NO_BYTES;

  feed(chunk: Buffer): FirstRequest {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    const outcome = this.#parser.parse(this.#bytes, 0, this.#bytes.length);
    switch (outcome.kind) {
      case "more":
        return MORE;
      case "malformed":
        return { kind: "bad", status: outcome.status, reason: outcome.reason };
      case "head":
        return read(outcome.head, this.#bytes);
    }
  }
}

function read(head: RequestHead, bytes: Buffer): FirstRequest {
  const { method, path } = head;
  if (head.upgrade.toLowerCase() !== "websocket") return { kind: "page", method, path };
  const fields = valuesOf(head.fields);
  const key = fields.get("sec-websocket-key") ?? "";
  const problem = problemOf(head, fields, key);
  if (problem !== undefined) return bad(problem);
  return {
    kind: "upgrade",
    key,
    credentials: readBasicCredentials(fields.get("authorization") ?? ""),
    rest: bytes.subarray(head.end),
  };
}

function problemOf(
  { method, body }: RequestHead,
  fields: ReadonlyMap<string, string>,
  key: string,
): string | undefined {
  if (method !== "GET") return "the upgrade is not a GET";
  if (body.kind !== "none") return "the upgrade has a body";
  if (fields.get("sec-websocket-version") !== WEBSOCKET_VERSION) {
    return `Sec-WebSocket-Version is not ${WEBSOCKET_VERSION}`;
  }
  if (!isWebsocketKey(key)) return "Sec-WebSocket-Key is not 16 bytes in base64";
  const protocols = (fields.get("sec-websocket-protocol") ?? "").split(",");
  const isOffered = protocols.some((name) => name.trim() === SUB_PROTOCOL);
  return isOffered ? undefined : `Sec-WebSocket-Protocol does not offer ${SUB_PROTOCOL}`;
}

/** By lower-case names; of those that are there several times all, as one list. */
function valuesOf(table: FieldTable): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (let index = 0; index < table.count; index += 1) {
    const name = table.name(index).toLowerCase();
    const before = values.get(name);
    const value = table.value(index);
    values.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return values;
}

function bad(reason: string): FirstRequest {
  return { kind: "bad", status: BAD_STATUS, reason };
}
