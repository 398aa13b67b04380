/** Where a record stands in a message. */
export interface DnsRecord {
  readonly section: "answer" | "authority" | "additional";
  readonly type: number;
  /** For OPT: how much the sender takes over UDP. */
  readonly class: number;
  readonly nameAt: number;
  /** Where its type begins; class, life and data follow. */
  readonly at: number;
  readonly ttlSeconds: number;
  readonly dataStart: number;
  readonly dataEnd: number;
}

const SECTIONS = ["answer", "authority", "additional"] as const;
const FIRST_COUNT_AT = 6;
const COUNT_BYTES = 2;
const TTL_AT = 4;
const LENGTH_AT = 8;
const FIXED_BYTES = 10;
const POINTER = 0xc0;
const MAX_LABEL_BYTES = 63;
const NOWHERE = -1;

/** The records after the question, whose end is given; undefined where the bytes are none. */
export function readDnsRecords(
  bytes: Buffer,
  questionEnd: number,
): readonly DnsRecord[] | undefined {
  const records: DnsRecord[] = [];
  let nameAt = questionEnd;
  for (const [index, section] of SECTIONS.entries()) {
    const count = bytes.readUInt16BE(FIRST_COUNT_AT + index * COUNT_BYTES);
    for (let left = count; left > 0; left -= 1) {
      const at = skipName(bytes, nameAt);
      if (at === NOWHERE || bytes.length < at + FIXED_BYTES) return undefined;
      const dataStart = at + FIXED_BYTES;
      const dataEnd = dataStart + bytes.readUInt16BE(at + LENGTH_AT);
      if (bytes.length < dataEnd) return undefined;
      records.push({
        section,
        type: bytes.readUInt16BE(at),
        class: bytes.readUInt16BE(at + 2),
        nameAt,
        at,
        ttlSeconds: bytes.readUInt32BE(at + TTL_AT),
        dataStart,
        dataEnd,
      });
      nameAt = dataEnd;
    }
  }
  return records;
}

export function writeTtl(bytes: Buffer, { at }: DnsRecord, ttlSeconds: number): void {
  bytes.writeUInt32BE(ttlSeconds, at + TTL_AT);
}

/** Where the type after the name stands. What a pointer leads to makes no difference here. */
function skipName(bytes: Buffer, from: number): number {
  let at = from;
  for (;;) {
    const length = bytes[at];
    if (length === undefined) return NOWHERE;
    if (length === 0) return at + 1;
    if (length >= POINTER) return at + 2;
    if (length > MAX_LABEL_BYTES) return NOWHERE;
    at += 1 + length;
  }
}
