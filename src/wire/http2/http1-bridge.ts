import { HOP_BY_HOP, nominatedNames } from "../http1/copy-fields.ts";
import type { FieldName } from "../http1/field-id.ts";
import type { ResponseHead } from "../http1/response-head.ts";
import type { FieldKind } from "./hpack/field-name.ts";
import type { HeaderField } from "./hpack/header-field.ts";
import { headerField } from "./hpack/static-table.ts";
import type { Http2RequestHead } from "./request-head.ts";
import type { Http2ResponseHead } from "./response-head.ts";
import { forwardedFields, type Http2Forwarding, passes, valuesOf } from "./write-head.ts";

/** What HTTP/1 writes in another way, or does not need. */
const REWRITTEN: ReadonlySet<FieldKind> = new Set<FieldKind>(["cookie", "te"]);
const DROPPED: ReadonlySet<FieldName> = new Set<FieldName>([...HOP_BY_HOP, "transfer-encoding"]);
const NO_LENGTH = -1;

/**
 * The head of a request, for a server that speaks HTTP/1.1. All its parts were checked: none has a
 * character that would end a line.
 * @param isChunked whether its body follows in chunks, as its length was not said.
 */
export function renderHttp1Request(
  { method, path, authority, fields }: Http2RequestHead,
  forwarding: Http2Forwarding,
  isChunked: boolean,
): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`, `host: ${authority}`];
  for (const field of fields) {
    const { name, value } = field;
    if (!REWRITTEN.has(name.kind) && passes(field, forwarding))
      lines.push(`${name.text}: ${value}`);
  }
  const cookies = valuesOf(fields, "cookie");
  if (cookies.length > 0) lines.push(`cookie: ${cookies.join("; ")}`);
  for (const { name, value } of forwardedFields(fields, forwarding)) {
    lines.push(`${name.text}: ${value}`);
  }
  if (isChunked) lines.push("transfer-encoding: chunked");
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
}

/** The head of a response of HTTP/1, for a client that speaks HTTP/2. */
export function readHttp1Response({
  status,
  fields,
  facts,
  body,
}: ResponseHead): Http2ResponseHead {
  const nominated = facts.nominates ? nominatedNames(fields) : [];
  const passed: HeaderField[] = [];
  for (let index = 0; index < fields.count; index++) {
    const name = fields.name(index).toLowerCase();
    const goes = DROPPED.has(fields.field(index)) || nominated.includes(name);
    if (!goes) passed.push(headerField(name, fields.value(index)));
  }
  return { status, fields: passed, contentLength: body.kind === "length" ? body.bytes : NO_LENGTH };
}
