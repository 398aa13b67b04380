import { CLASS_IN, HEADER_BYTES, MAX_NAME_BYTES } from "./dns-words.ts";

/** What a message asks for. */
export interface DnsQuestion {
  /** As it was asked, without a dot at the end; empty for the root. */
  readonly name: string;
  readonly type: number;
  readonly class: number;
  /** The whole section, for answers and other questions to repeat: cases are kept. A view. */
  readonly bytes: Buffer;
}

const MAX_LABEL_BYTES = 63;
const FIXED_BYTES = 4;
const DOT = ".";

/** The only question of a message; undefined where the bytes are none, or not one. */
export function readDnsQuestion(bytes: Buffer): DnsQuestion | undefined {
  if (bytes.length < HEADER_BYTES || bytes.readUInt16BE(4) !== 1) return undefined;
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = bytes[at]; length !== 0; length = bytes[at]) {
    // A pointer has nothing before it that it could lead to.
    if (length === undefined || length > MAX_LABEL_BYTES) return undefined;
    const end = at + 1 + length;
    if (end >= bytes.length || end - HEADER_BYTES >= MAX_NAME_BYTES) return undefined;
    labels.push(bytes.toString("latin1", at + 1, end));
    at = end;
  }
  const end = at + 1 + FIXED_BYTES;
  if (bytes.length < end) return undefined;
  return {
    name: labels.map(escapeLabel).join(DOT),
    type: bytes.readUInt16BE(at + 1),
    class: bytes.readUInt16BE(at + 3),
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

/** A dot inside of a label must not look like one between two. */
function escapeLabel(label: string): string {
  return label.replace(/[\\.]/g, "\\$&");
}
