import type { FieldKind } from "./hpack/field-name.ts";
import type { HeaderBlockWriter } from "./hpack/header-block-writer.ts";
import type { HeaderField } from "./hpack/header-field.ts";
import { fieldName, headerField, STATIC_FIELDS } from "./hpack/static-table.ts";
import type { Http2RequestHead } from "./request-head.ts";

/** What servers are told about who asks. */
export interface Http2Forwarding {
  /** The address that the requests come from; empty where the client has none (a unix socket). */
  readonly peer: string;
  readonly scheme: HeaderField;
  /** Whether what the peer says about earlier hops is believed; otherwise it is replaced. */
  readonly trustsPeer: boolean;
  /** What is said in place of what a peer says that is not believed. */
  readonly own: readonly HeaderField[];
}

const METHOD = fieldName(":method");
const AUTHORITY = fieldName(":authority");
const PATH = fieldName(":path");
const STATUS = fieldName(":status");
/** Those that the static table has whole. */
const METHODS: ReadonlyMap<string, HeaderField> = fieldsOf(":method");
const SCHEMES: ReadonlyMap<string, HeaderField> = fieldsOf(":scheme");
const STATUSES: ReadonlyMap<string, HeaderField> = fieldsOf(":status");

/** Servers take these for the word of their proxy. */
const WORD_OF_PROXIES: ReadonlySet<FieldKind> = new Set<FieldKind>([
  "x-forwarded-proto",
  "x-forwarded-host",
  "x-forwarded-port",
  "forwarded",
]);

function fieldsOf(name: string): ReadonlyMap<string, HeaderField> {
  const fields = STATIC_FIELDS.filter((field) => field.name.text === name);
  return new Map(fields.map((field) => [field.value, field]));
}

export function createForwarding(
  peer: string,
  scheme: "http" | "https",
  trustsPeer: boolean,
): Http2Forwarding {
  const own = [headerField("x-forwarded-proto", scheme)];
  if (peer !== "") own.unshift(headerField("x-forwarded-for", peer));
  return { peer, scheme: SCHEMES.get(scheme) ?? headerField(":scheme", scheme), trustsPeer, own };
}

/** Writes the head of a request for a server that speaks HTTP/2. */
export function writeRequestHead(
  writer: HeaderBlockWriter,
  { method, authority, path, fields }: Http2RequestHead,
  forwarding: Http2Forwarding,
): void {
  writer.reset();
  const known = METHODS.get(method);
  if (known === undefined) writer.literal(METHOD, method);
  else writer.field(known);
  writer.field(forwarding.scheme);
  writer.literal(AUTHORITY, authority);
  writer.literal(PATH, path);
  for (const field of fields) if (passes(field, forwarding)) writer.field(field);
  for (const field of forwardedFields(fields, forwarding)) writer.field(field);
}

export function writeResponseHead(
  writer: HeaderBlockWriter,
  status: number,
  fields: readonly HeaderField[],
): void {
  writer.reset();
  const text = String(status);
  const known = STATUSES.get(text);
  if (known === undefined) writer.literal(STATUS, text);
  else writer.field(known);
  for (const field of fields) writer.field(field);
}

export function writeTrailers(writer: HeaderBlockWriter, fields: readonly HeaderField[]): void {
  writer.reset();
  for (const field of fields) writer.field(field);
}

/** Whether a field of the client's goes to the server as it is. */
export function passes({ name: { kind } }: HeaderField, { trustsPeer }: Http2Forwarding): boolean {
  if (kind === "other") return true;
  if (kind === "x-forwarded-for" || kind === "http2-settings") return false;
  return trustsPeer || !WORD_OF_PROXIES.has(kind);
}

/** What is said about the client. */
export function forwardedFields(
  fields: readonly HeaderField[],
  { peer, trustsPeer, own }: Http2Forwarding,
): readonly HeaderField[] {
  if (!trustsPeer) return own;
  const hops = valuesOf(fields, "x-forwarded-for");
  if (peer !== "") hops.push(peer);
  const forwarded = hops.length === 0 ? [] : [headerField("x-forwarded-for", hops.join(", "))];
  const isSchemeSaid = fields.some(({ name }) => name.kind === "x-forwarded-proto");
  const schemes = own.filter(({ name }) => name.kind === "x-forwarded-proto" && !isSchemeSaid);
  return [...forwarded, ...schemes];
}

/** The values of all fields of a kind, in their order. */
export function valuesOf(fields: readonly HeaderField[], kind: FieldKind): string[] {
  return fields.filter(({ name }) => name.kind === kind).map(({ value }) => value);
}
