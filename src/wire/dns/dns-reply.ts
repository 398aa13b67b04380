import { type Answer, encode } from "dns-packet";
import type { DnsQuery } from "./dns-query.ts";
import {
  FLAG_AUTHORITATIVE,
  FLAG_CHECKING_DISABLED,
  FLAG_RECURSION_AVAILABLE,
  FLAG_RECURSION_DESIRED,
  FLAG_RESPONSE,
  FLAG_TRUNCATED,
  HEADER_BYTES,
  MAX_UDP_BYTES,
  RCODE_MASK,
  RCODES,
  type Rcode,
  TYPES,
} from "./dns-words.ts";

export interface DnsReply {
  readonly rcode: Rcode;
  /** The names are ours. */
  readonly isAuthoritative: boolean;
  /** Whether others would be asked for. */
  readonly canRecurse: boolean;
  readonly answers: readonly Answer[];
  readonly additionals: readonly Answer[];
}

const ANSWER_COUNT_AT = 6;
const ADDITIONAL_COUNT_AT = 10;
const RCODE_BITS = 4;
const SIGNATURES_BIT = 0x8000;
const OPT_BYTES = 11;

/** The answer to a query. Where it is longer than may be, it says so and the client asks over TCP. */
export function renderDnsReply(query: DnsQuery, reply: DnsReply, maxBytes: number): Buffer {
  const { answers, additionals } = reply;
  const records = encodeRecords([...answers, ...additionals]);
  const whole = renderWith(query, reply, { records, flags: 0 });
  whole.writeUInt16BE(answers.length, ANSWER_COUNT_AT);
  const own = whole.readUInt16BE(ADDITIONAL_COUNT_AT);
  whole.writeUInt16BE(own + additionals.length, ADDITIONAL_COUNT_AT);
  return whole.length <= maxBytes ? whole : renderTruncated(query, reply);
}

/** Only that there is more, over TCP. */
export function renderTruncated(
  query: DnsQuery,
  reply: Omit<DnsReply, "answers" | "additionals">,
): Buffer {
  return renderWith(query, reply, { records: NO_BYTES, flags: FLAG_TRUNCATED });
}

/** To somebody whose question could not be read. */
export function renderProblem(id: number, rcode: Rcode): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE(FLAG_RESPONSE | RCODES[rcode], 2);
  return header;
}

const NO_BYTES = Buffer.alloc(0);

function renderWith(
  query: DnsQuery,
  { rcode, isAuthoritative, canRecurse }: Omit<DnsReply, "answers" | "additionals">,
  { records, flags }: { readonly records: Buffer; readonly flags: number },
): Buffer {
  const { question, extension } = query;
  const parts = [renderProblem(query.id, "NOERROR"), question.bytes, records];
  if (extension !== undefined) parts.push(renderOption(rcode, extension.wantsSignatures));
  const bytes = Buffer.concat(parts);
  const said =
    FLAG_RESPONSE |
    flags |
    (isAuthoritative ? FLAG_AUTHORITATIVE : 0) |
    (query.wantsRecursion ? FLAG_RECURSION_DESIRED : 0) |
    (query.disablesChecking ? FLAG_CHECKING_DISABLED : 0) |
    (canRecurse ? FLAG_RECURSION_AVAILABLE : 0) |
    (RCODES[rcode] & RCODE_MASK);
  bytes.writeUInt16BE(said, 2);
  bytes.writeUInt16BE(1, 4);
  bytes.writeUInt16BE(extension === undefined ? 0 : 1, ADDITIONAL_COUNT_AT);
  return bytes;
}

/** Root name, OPT, how much is taken over UDP, the upper bits of the code, version 0, flags, no data. */
export function renderOption(rcode: Rcode, wantsSignatures: boolean): Buffer {
  const option = Buffer.alloc(OPT_BYTES);
  option.writeUInt16BE(TYPES.OPT, 1);
  option.writeUInt16BE(MAX_UDP_BYTES, 3);
  option.writeUInt8(RCODES[rcode] >> RCODE_BITS, 5);
  option.writeUInt16BE(wantsSignatures ? SIGNATURES_BIT : 0, 7);
  return option;
}

function encodeRecords(answers: readonly Answer[]): Buffer {
  if (answers.length === 0) return NO_BYTES;
  return encode({ type: "response", answers: [...answers] }).subarray(HEADER_BYTES);
}
