import { AUTHORITY, isOf, TARGET, TOKEN } from "../http1/characters.ts";
import type { FieldList } from "./hpack/field-list.ts";
import type { HeaderField } from "./hpack/header-field.ts";
import { MessageFields } from "./message-fields.ts";

/** The head of a request, checked. */
export interface Http2RequestHead {
  readonly method: string;
  /** The host, with the port where one is said. */
  readonly authority: string;
  /** With the query; `*` for the server as a whole; empty for CONNECT. */
  readonly path: string;
  /** Without pseudo fields and `host`. */
  readonly fields: readonly HeaderField[];
  /** -1 where it is not said. */
  readonly contentLength: number;
}

/** Undefined where it is malformed (RFC 9113 section 8.3.1). */
export function readRequestHead(list: FieldList): Http2RequestHead | undefined {
  const message = new MessageFields();
  if (!message.read(list)) return undefined;
  const { method, status, host, fields, contentLength } = message;
  const authority = message.authority ?? host ?? "";
  const isSame = host === undefined || host.toLowerCase() === authority.toLowerCase();
  if (method === undefined || status !== undefined || !isSame) return undefined;
  if (!isAllOf(method, TOKEN) || !isAllOf(authority, AUTHORITY)) return undefined;
  const path = pathOf(message, method);
  return path === undefined ? undefined : { method, authority, path, fields, contentLength };
}

function pathOf({ path, scheme }: MessageFields, method: string): string | undefined {
  if (method === "CONNECT") return path === undefined && scheme === undefined ? "" : undefined;
  const isKnown = scheme === "http" || scheme === "https";
  if (!isKnown || path === undefined) return undefined;
  if (path === "*") return method === "OPTIONS" ? path : undefined;
  return path.startsWith("/") && isAllOf(path, TARGET) ? path : undefined;
}

function isAllOf(text: string, flag: number): boolean {
  for (let at = 0; at < text.length; at++) if (!isOf(text.charCodeAt(at), flag)) return false;
  return text !== "";
}
