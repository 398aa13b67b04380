import { copyFields, HOP_BY_HOP } from "./copy-fields.ts";
import type { FieldName } from "./field-id.ts";
import type { HeadWriter } from "./head-writer.ts";
import type { RequestHead } from "./request-head.ts";

/** What the next hop is told. */
export interface RequestForwarding {
  /** The address that the request comes from; empty where the client has none (a unix socket). */
  readonly peer: string;
  readonly scheme: "http" | "https";
  /** Whether what the peer says about earlier hops is believed; otherwise it is replaced. */
  readonly trustsPeer: boolean;
  /** Whether the connection to the server is to stay open. */
  readonly keepAlive: boolean;
}

const SLASH = 0x2f;
const REWRITTEN: readonly FieldName[] = [...HOP_BY_HOP, "x-forwarded-for"];
const DROPPED_OF_TRUSTED: ReadonlySet<FieldName> = new Set(REWRITTEN);
/** Servers take these for the word of their proxy. */
const DROPPED_OF_OTHERS: ReadonlySet<FieldName> = new Set<FieldName>([
  ...REWRITTEN,
  "x-forwarded-proto",
  "x-forwarded-host",
  "x-forwarded-port",
  "forwarded",
]);

/**
 * Writes the head of a request for a server. The framing stays as it is, so the body can follow
 * untouched. The version stays the client's: a server must not answer an HTTP/1.0 client in chunks.
 */
export function writeRequest(
  writer: HeadWriter,
  head: RequestHead,
  forwarding: RequestForwarding,
): void {
  const { fields, facts, line } = head;
  const dropped = forwarding.trustsPeer ? DROPPED_OF_TRUSTED : DROPPED_OF_OTHERS;
  if (line.form === "absolute") {
    writeOriginForm(writer, head);
    const withoutHost = new Set<FieldName>([...dropped, "host"]);
    copyFields(writer, fields, facts, withoutHost, fields.nameStart(0));
  } else {
    copyFields(writer, fields, facts, dropped, line.start);
  }
  const connection = connectionOf(head, forwarding.keepAlive);
  writer.text(`${connection}${forwardedOf(head, forwarding)}\r\n`);
}

/** Servers need not know targets with a host in them: they get a path and a Host field. */
function writeOriginForm(writer: HeadWriter, { line, fields, method, host }: RequestHead): void {
  const isForAll = line.pathStart === line.pathEnd && method === "OPTIONS";
  writer.text(`${method} `);
  if (fields.bytes[line.pathStart] !== SLASH) writer.text(isForAll ? "*" : "/");
  writer.copy(fields.bytes, line.pathStart, line.pathEnd);
  writer.text(` HTTP/1.${line.minorVersion}\r\nHost: ${host}\r\n`);
}

function connectionOf(head: RequestHead, keepAlive: boolean): string {
  const { upgrade } = head;
  if (upgrade !== "") return `Connection: upgrade\r\nUpgrade: ${upgrade}\r\n`;
  if (!keepAlive) return "Connection: close\r\n";
  return head.line.minorVersion === 0 ? "Connection: keep-alive\r\n" : "";
}

function forwardedOf(
  { fields }: RequestHead,
  { peer, scheme, trustsPeer }: RequestForwarding,
): string {
  const ownScheme = `X-Forwarded-Proto: ${scheme}\r\n`;
  if (!trustsPeer) return `${forwardedFor(peer)}${ownScheme}`;
  const hops = [...fields.values("x-forwarded-for")];
  if (peer !== "") hops.push(peer);
  const hasScheme = fields.values("x-forwarded-proto").length > 0;
  return `${forwardedFor(hops.join(", "))}${hasScheme ? "" : ownScheme}`;
}

function forwardedFor(hops: string): string {
  return hops === "" ? "" : `X-Forwarded-For: ${hops}\r\n`;
}
