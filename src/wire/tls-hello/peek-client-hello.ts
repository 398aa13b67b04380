import { type ClientHello, parseClientHello } from "./client-hello.ts";

/** What the first bytes of a connection are. */
export type TlsPeek =
  | { readonly kind: "more" }
  | { readonly kind: "not-tls" }
  | { readonly kind: "malformed"; readonly reason: string }
  | { readonly kind: "hello"; readonly hello: ClientHello };

const MORE: TlsPeek = Object.freeze({ kind: "more" });
const NOT_TLS: TlsPeek = Object.freeze({ kind: "not-tls" });

const RECORD_HEADER_BYTES = 5;
const CONTENT_HANDSHAKE = 22;
const MAJOR_VERSION = 3;
const MAX_RECORD_BYTES = 16_384;
/** Some clients cut the message up; each record costs a step every time that bytes come. */
const MAX_RECORDS = 64;
const MESSAGE_HEADER_BYTES = 4;
const MESSAGE_CLIENT_HELLO = 1;

/**
 * Looks for the ClientHello at the beginning of a connection whose bytes will be passed on as they
 * are. The message may be cut into several records (RFC 8446 section 5.1).
 * @param maxBytes how large the message may be; post-quantum keys make some 2,000 bytes usual.
 */
export function peekClientHello(
  bytes: Buffer,
  start: number,
  end: number,
  maxBytes: number = MAX_RECORD_BYTES,
): TlsPeek {
  const fragments: Buffer[] = [];
  let at = start;
  let gathered = 0;
  while (fragments.length < MAX_RECORDS) {
    const record = readRecord(bytes, at, end);
    if (record.kind !== "record") return at === start ? record : lateProblem(record);
    const fragment = bytes.subarray(at + RECORD_HEADER_BYTES, Math.min(record.end, end));
    fragments.push(fragment);
    gathered += fragment.length;
    const message = readMessage(fragments, gathered, maxBytes);
    if (message.kind !== "more" || record.end > end) return message;
    at = record.end;
  }
  return malformed(`more than ${MAX_RECORDS} records`);
}

type RecordPeek = TlsPeek | { readonly kind: "record"; readonly end: number };

function readRecord(bytes: Buffer, at: number, end: number): RecordPeek {
  const [type, major] = bytes.subarray(at, Math.min(end, at + 2));
  if (type !== undefined && type !== CONTENT_HANDSHAKE) return NOT_TLS;
  if (major !== undefined && major !== MAJOR_VERSION) return NOT_TLS;
  if (end - at < RECORD_HEADER_BYTES) return MORE;
  const length = bytes.readUInt16BE(at + RECORD_HEADER_BYTES - 2);
  if (length === 0 || length > MAX_RECORD_BYTES) {
    return malformed(`a record of ${length} bytes; expected 1 to ${MAX_RECORD_BYTES}`);
  }
  return { kind: "record", end: at + RECORD_HEADER_BYTES + length };
}

function lateProblem(peek: TlsPeek): TlsPeek {
  return peek.kind === "not-tls" ? malformed("another record within the ClientHello") : peek;
}

function readMessage(fragments: readonly Buffer[], gathered: number, maxBytes: number): TlsPeek {
  if (gathered < MESSAGE_HEADER_BYTES) return MORE;
  const head = Buffer.concat(fragments, MESSAGE_HEADER_BYTES);
  if (head[0] !== MESSAGE_CLIENT_HELLO) {
    return malformed(`handshake message ${head[0]}; expected 1`);
  }
  const length = head.readUIntBE(1, MESSAGE_HEADER_BYTES - 1);
  if (length > maxBytes) return malformed(`${length} bytes; expected ${maxBytes} at most`);
  const messageEnd = MESSAGE_HEADER_BYTES + length;
  if (gathered < messageEnd) return MORE;
  const [first] = fragments;
  const message = fragments.length === 1 && first ? first : Buffer.concat(fragments);
  const hello = parseClientHello(message, MESSAGE_HEADER_BYTES, messageEnd);
  return hello === undefined ? malformed("its fields do not fit") : { kind: "hello", hello };
}

function malformed(reason: string): TlsPeek {
  return { kind: "malformed", reason: `TLS ClientHello: ${reason}` };
}
