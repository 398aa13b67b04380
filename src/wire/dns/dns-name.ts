import { HEADER_BYTES, MAX_NAME_BYTES } from "./dns-words.ts";

export interface DnsName {
  /** As it was written, without a dot at the end; empty for the root. */
  readonly name: string;
  /** Behind it in the message. */
  readonly end: number;
}

/** Labels in a row, up to the end of the name or to a pointer. */
interface Part {
  readonly labels: readonly string[];
  readonly end: number;
  /** Where the name goes on. */
  readonly pointer: number | undefined;
}

const MAX_LABEL_BYTES = 63;
const POINTER = 0xc0;
const POINTER_BYTES = 2;
const DOT = ".";

/**
 * The name that begins at a place of a message; undefined where the bytes are none. A pointer must lead
 * back to before the part that it ends, and not into the header: so there is no circle.
 */
export function readDnsName(bytes: Buffer, from: number): DnsName | undefined {
  const first = readPart(bytes, from);
  const labels: string[] = [];
  let start = from;
  let part = first;
  while (part !== undefined) {
    labels.push(...part.labels);
    if (byteCountOf(labels) > MAX_NAME_BYTES) return undefined;
    const { pointer } = part;
    if (pointer === undefined) break;
    if (pointer < HEADER_BYTES || pointer >= start) return undefined;
    start = pointer;
    part = readPart(bytes, pointer);
  }
  if (first === undefined || part === undefined) return undefined;
  return { name: labels.map(escapeLabel).join(DOT), end: first.end };
}

function readPart(bytes: Buffer, from: number): Part | undefined {
  const labels: string[] = [];
  let at = from;
  for (let length = bytes[at]; length !== 0; length = bytes[at]) {
    if (length === undefined) return undefined;
    if (length >= POINTER) {
      const end = at + POINTER_BYTES;
      if (end > bytes.length) return undefined;
      return { labels, end, pointer: bytes.readUInt16BE(at) - (POINTER << 8) };
    }
    const next = at + 1 + length;
    if (length > MAX_LABEL_BYTES || next - from > MAX_NAME_BYTES) return undefined;
    labels.push(bytes.toString("latin1", at + 1, next));
    at = next;
  }
  return { labels, end: at + 1, pointer: undefined };
}

/** As a message holds it, with the root at its end. */
function byteCountOf(labels: readonly string[]): number {
  return labels.reduce((sum, label) => sum + 1 + label.length, 1);
}

/** A dot inside of a label must not look like one between two. */
function escapeLabel(label: string): string {
  return label.replace(/[\\.]/g, "\\$&");
}
