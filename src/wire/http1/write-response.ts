import { copyFields, HOP_BY_HOP } from "./copy-fields.ts";
import type { FieldName } from "./field-id.ts";
import { NO_FIELD } from "./head-facts.ts";
import type { HeadWriter } from "./head-writer.ts";
import { mayNotAnnounceBody, type ResponseHead } from "./response-head.ts";

/** What the client is told. */
export interface ResponseForwarding {
  /** Whether the client may send another request; not, where the body ends with the connection. */
  readonly keepAlive: boolean;
  /** Minor version of the client's request: one of HTTP/1.0 has to be told that it may. */
  readonly clientMinorVersion: number;
}

const DROPPED: ReadonlySet<FieldName> = new Set(HOP_BY_HOP);
const DROPPED_WITHOUT_BODY: ReadonlySet<FieldName> = new Set<FieldName>([
  ...HOP_BY_HOP,
  "content-length",
  "transfer-encoding",
]);

/** Writes the head of a response for the client. The framing stays, so the body can follow untouched. */
export function writeResponse(
  writer: HeadWriter,
  head: ResponseHead,
  forwarding: ResponseForwarding,
): void {
  const { fields, facts, start, status } = head;
  const dropped = mayNotAnnounceBody(status) ? DROPPED_WITHOUT_BODY : DROPPED;
  copyFields(writer, fields, facts, dropped, start);
  if (!head.isInterim) writeConnection(writer, head, forwarding);
  writer.text("\r\n");
}

function writeConnection(
  writer: HeadWriter,
  { body, fields, facts }: ResponseHead,
  { keepAlive, clientMinorVersion }: ResponseForwarding,
): void {
  if (body.kind === "tunnel") {
    if (facts.upgrade === NO_FIELD) return;
    writer.text(`Connection: upgrade\r\nUpgrade: ${fields.value(facts.upgrade)}\r\n`);
  } else if (!keepAlive || body.kind === "until-close") {
    writer.text("Connection: close\r\n");
  } else if (clientMinorVersion === 0) {
    writer.text("Connection: keep-alive\r\n");
  }
}
