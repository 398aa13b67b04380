import { readIp, V4_BYTES, V6_BYTES } from "../ip-bytes.ts";
import { readDnsName } from "./dns-name.ts";
import { readDnsRecords } from "./dns-records.ts";
import { CLASS_IN, FLAG_RESPONSE, HEADER_BYTES, OPCODE_MASK, TYPES } from "./dns-words.ts";

/** A question to all on the link (RFC 6762). */
export interface MdnsQuestion {
  readonly name: string;
  readonly type: number;
  /** The answer may go to the one who asks alone. */
  readonly wantsUnicast: boolean;
}

/** An address that the one who asks has heard of already. */
export interface KnownAddress {
  /** In lower case. */
  readonly name: string;
  readonly address: string;
  readonly ttlSeconds: number;
}

export interface MdnsQuery {
  readonly questions: readonly MdnsQuestion[];
  readonly known: readonly KnownAddress[];
}

const QUESTION_COUNT_AT = 4;
const FIXED_BYTES = 4;
/** Of the class: the answer may come by unicast; in records, that others are outdated. */
export const MDNS_CLASS_BIT = 0x8000;
const CLASS_MASK = 0x7fff;
const CLASS_ANY = 255;
/** More in one message nobody asks in earnest. */
const MAX_QUESTIONS = 32;

/** Undefined where it is none; mDNS never complains. */
export function readMdnsQuery(bytes: Buffer): MdnsQuery | undefined {
  if (bytes.length < HEADER_BYTES) return undefined;
  if ((bytes.readUInt16BE(2) & (FLAG_RESPONSE | OPCODE_MASK)) !== 0) return undefined;
  const count = bytes.readUInt16BE(QUESTION_COUNT_AT);
  if (count === 0 || count > MAX_QUESTIONS) return undefined;
  const questions: MdnsQuestion[] = [];
  let at = HEADER_BYTES;
  for (let left = count; left > 0; left -= 1) {
    const name = readDnsName(bytes, at);
    if (name === undefined || bytes.length < name.end + FIXED_BYTES) return undefined;
    const asked = bytes.readUInt16BE(name.end + 2);
    at = name.end + FIXED_BYTES;
    const wanted = asked & CLASS_MASK;
    if (wanted !== CLASS_IN && wanted !== CLASS_ANY) continue;
    const wantsUnicast = (asked & MDNS_CLASS_BIT) !== 0;
    questions.push({ name: name.name, type: bytes.readUInt16BE(name.end), wantsUnicast });
  }
  const known = readKnown(bytes, at);
  return known && { questions, known };
}

function readKnown(bytes: Buffer, from: number): readonly KnownAddress[] | undefined {
  const records = readDnsRecords(bytes, from);
  return records?.flatMap(({ section, type, nameAt, ttlSeconds, dataStart, dataEnd }) => {
    if (section !== "answer" || (type !== TYPES.A && type !== TYPES.AAAA)) return [];
    const name = readDnsName(bytes, nameAt)?.name;
    const byteCount = type === TYPES.A ? V4_BYTES : V6_BYTES;
    if (name === undefined || dataEnd - dataStart !== byteCount) return [];
    return [{ name: name.toLowerCase(), address: readIp(bytes, dataStart, byteCount), ttlSeconds }];
  });
}
