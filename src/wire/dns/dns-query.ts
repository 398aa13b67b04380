import { type DnsQuestion, readDnsQuestion } from "./dns-question.ts";
import { type DnsRecord, readDnsRecords } from "./dns-records.ts";
import {
  FLAG_CHECKING_DISABLED,
  FLAG_RECURSION_DESIRED,
  FLAG_RESPONSE,
  HEADER_BYTES,
  MAX_UDP_BYTES,
  OPCODE_MASK,
  PLAIN_UDP_BYTES,
  type Rcode,
  TYPES,
} from "./dns-words.ts";

/** What the sender says with an OPT record (RFC 6891). */
export interface DnsExtension {
  readonly version: number;
  readonly wantsSignatures: boolean;
}

export interface DnsQuery {
  readonly id: number;
  readonly question: DnsQuestion;
  readonly wantsRecursion: boolean;
  readonly disablesChecking: boolean;
  /** Undefined where it says none; then the answer must not either. */
  readonly extension: DnsExtension | undefined;
  /** How long an answer over UDP may be. */
  readonly maxUdpBytes: number;
}

/** `problem`: what to answer with. `noise`: an answer to that could go round in circles. */
export type QueryOutcome =
  | { readonly kind: "query"; readonly query: DnsQuery }
  | { readonly kind: "problem"; readonly id: number; readonly rcode: Rcode }
  | { readonly kind: "noise" };

const SIGNATURES_BIT = 0x8000;
const VERSION_SHIFT = 16;
const BYTE_MASK = 0xff;

/** Reads what a client asks. The result has views of the bytes. */
export function readDnsQuery(bytes: Buffer): QueryOutcome {
  if (bytes.length < HEADER_BYTES) return { kind: "noise" };
  const [id, flags] = [bytes.readUInt16BE(0), bytes.readUInt16BE(2)];
  if ((flags & FLAG_RESPONSE) !== 0) return { kind: "noise" };
  if ((flags & OPCODE_MASK) !== 0) return { kind: "problem", id, rcode: "NOTIMP" };
  const question = readDnsQuestion(bytes);
  const records = question && readDnsRecords(bytes, HEADER_BYTES + question.bytes.length);
  const options = records?.filter(({ type }) => type === TYPES.OPT) ?? [];
  if (question === undefined || records === undefined || options.length > 1) {
    return { kind: "problem", id, rcode: "FORMERR" };
  }
  const [option] = options;
  return {
    kind: "query",
    query: {
      id,
      question,
      wantsRecursion: (flags & FLAG_RECURSION_DESIRED) !== 0,
      disablesChecking: (flags & FLAG_CHECKING_DISABLED) !== 0,
      extension: option && extensionOf(option),
      maxUdpBytes: Math.min(MAX_UDP_BYTES, Math.max(PLAIN_UDP_BYTES, option?.class ?? 0)),
    },
  };
}

/** The field for the life of a record holds other things in this one. */
function extensionOf({ ttlSeconds: fields }: DnsRecord): DnsExtension {
  return {
    version: (fields >>> VERSION_SHIFT) & BYTE_MASK,
    wantsSignatures: (fields & SIGNATURES_BIT) !== 0,
  };
}
