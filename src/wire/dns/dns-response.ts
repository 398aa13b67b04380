import type { DnsQuery } from "./dns-query.ts";
import { type DnsQuestion, isSameQuestion, readDnsQuestion } from "./dns-question.ts";
import { type DnsRecord, readDnsRecords, writeTtl } from "./dns-records.ts";
import { renderOption } from "./dns-reply.ts";
import {
  FLAG_CHECKING_DISABLED,
  FLAG_RECURSION_DESIRED,
  FLAG_RESPONSE,
  FLAG_TRUNCATED,
  HEADER_BYTES,
  RCODE_MASK,
  RCODES,
  TYPES,
} from "./dns-words.ts";

/** What a resolver answered. */
export interface DnsResponse {
  readonly bytes: Buffer;
  readonly rcode: number;
  readonly isTruncated: boolean;
  readonly records: readonly DnsRecord[];
  /** How long it holds; 0 where it must not be kept. */
  readonly ttlSeconds: number;
}

const MINIMUM_BYTES = 4;

/** Undefined where the bytes are no answer to that question under that id. */
export function readDnsResponse(
  bytes: Buffer,
  id: number,
  question: DnsQuestion,
): DnsResponse | undefined {
  if (bytes.length < HEADER_BYTES || bytes.readUInt16BE(0) !== id) return undefined;
  const flags = bytes.readUInt16BE(2);
  const repeated = readDnsQuestion(bytes);
  if ((flags & FLAG_RESPONSE) === 0 || repeated === undefined) return undefined;
  if (!isSameQuestion(repeated, question)) return undefined;
  const records = readDnsRecords(bytes, HEADER_BYTES + repeated.bytes.length);
  if (records === undefined) return undefined;
  const rcode = flags & RCODE_MASK;
  const isTruncated = (flags & FLAG_TRUNCATED) !== 0;
  const ttlSeconds = isTruncated ? 0 : lifeOf(bytes, rcode, records);
  return { bytes, rcode, isTruncated, records, ttlSeconds };
}

/** As the least of its records; that there is nothing holds as long as the zone says (RFC 2308). */
function lifeOf(bytes: Buffer, rcode: number, records: readonly DnsRecord[]): number {
  if (rcode !== RCODES.NOERROR && rcode !== RCODES.NXDOMAIN) return 0;
  const answers = records.filter(({ section }) => section === "answer");
  if (rcode === RCODES.NOERROR && answers.length > 0) {
    return Math.min(...answers.map(({ ttlSeconds }) => ttlSeconds));
  }
  const zone = records.find(({ section, type }) => section === "authority" && type === TYPES.SOA);
  if (zone === undefined || zone.dataEnd - zone.dataStart < MINIMUM_BYTES) return 0;
  return Math.min(zone.ttlSeconds, bytes.readUInt32BE(zone.dataEnd - MINIMUM_BYTES));
}

/**
 * The answer as this client gets it: under its id, with its question as it wrote it, and with what
 * is left of the lives of the records.
 */
export function repeatResponse(response: DnsResponse, query: DnsQuery, ageSeconds: number): Buffer {
  const bytes = Buffer.from(response.bytes);
  bytes.writeUInt16BE(query.id, 0);
  const own = FLAG_RECURSION_DESIRED | FLAG_CHECKING_DISABLED;
  const said =
    (query.wantsRecursion ? FLAG_RECURSION_DESIRED : 0) |
    (query.disablesChecking ? FLAG_CHECKING_DISABLED : 0);
  bytes.writeUInt16BE((bytes.readUInt16BE(2) & ~own) | said, 2);
  query.question.bytes.copy(bytes, HEADER_BYTES);
  for (const record of response.records) {
    if (record.type === TYPES.OPT) writeOption(bytes, record, query);
    else writeTtl(bytes, record, Math.max(0, record.ttlSeconds - ageSeconds));
  }
  return bytes;
}

/** What a resolver says of itself is no word of ours; the upper bits of its code stay. */
function writeOption(bytes: Buffer, { at, ttlSeconds }: DnsRecord, query: DnsQuery): void {
  const option = renderOption("NOERROR", query.extension?.wantsSignatures ?? false);
  const upperCode = ttlSeconds >>> 24;
  option.copy(bytes, at, 1, 1 + OPTION_FIXED_BYTES);
  bytes.writeUInt8(upperCode, at + UPPER_CODE_AT);
}

const OPTION_FIXED_BYTES = 8;
const UPPER_CODE_AT = 4;
