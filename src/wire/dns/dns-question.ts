import { readDnsName } from "./dns-name.ts";
import { CLASS_IN, HEADER_BYTES } from "./dns-words.ts";

/** What a message asks for. */
export interface DnsQuestion {
  /** As it was asked, without a dot at the end; empty for the root. */
  readonly name: string;
  readonly type: number;
  readonly class: number;
  /** The whole section, for answers and other questions to repeat: cases are kept. A view. */
  readonly bytes: Buffer;
}

const FIXED_BYTES = 4;

/** The only question of a message; undefined where the bytes are none, or not one. */
export function readDnsQuestion(bytes: Buffer): DnsQuestion | undefined {
  if (bytes.length < HEADER_BYTES || bytes.readUInt16BE(4) !== 1) return undefined;
  const read = readDnsName(bytes, HEADER_BYTES);
  if (read === undefined || bytes.length < read.end + FIXED_BYTES) return undefined;
  const { name, end: at } = read;
  const end = at + FIXED_BYTES;
  return {
    name,
    type: bytes.readUInt16BE(at),
    class: bytes.readUInt16BE(at + 2),
    bytes: bytes.subarray(HEADER_BYTES, end),
  };
}

/** Whether both ask for the same; the cases of letters do not matter. */
export function isSameQuestion(one: DnsQuestion, other: DnsQuestion): boolean {
  return (
    one.type === other.type &&
    one.class === other.class &&
    one.name.toLowerCase() === other.name.toLowerCase()
  );
}

export function isInternet(question: DnsQuestion): boolean {
  return question.class === CLASS_IN;
}
