/** The few bytes of DNS (RFC 1035) that a check needs: one question, and the head of the answer. */

const HEADER_BYTES = 12;
const FLAGS_RECURSION_DESIRED = 0x0100;
const FLAG_RESPONSE = 0x8000;
const RCODE_MASK = 0x000f;
const TYPE_A = 1;
const CLASS_IN = 1;

/** Asks for the IPv4 addresses of a name; `.` is the root. */
export function renderDnsQuery(id: number, name: string): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE(FLAGS_RECURSION_DESIRED, 2);
  header.writeUInt16BE(1, 4);
  const labels = name.split(".").filter((label) => label !== "");
  const question = labels.map((label) =>
    Buffer.concat([Buffer.from([label.length]), Buffer.from(label, "latin1")]),
  );
  const tail = Buffer.from([0, 0, TYPE_A, 0, CLASS_IN]);
  return Buffer.concat([header, ...question, tail]);
}

export interface DnsAnswerHead {
  readonly rcode: number;
  readonly answers: number;
}

/** Undefined where the bytes are no answer to that question. */
export function readDnsAnswer(id: number, bytes: Buffer): DnsAnswerHead | undefined {
  if (bytes.length < HEADER_BYTES || bytes.readUInt16BE(0) !== id) return undefined;
  const flags = bytes.readUInt16BE(2);
  if ((flags & FLAG_RESPONSE) === 0) return undefined;
  return { rcode: flags & RCODE_MASK, answers: bytes.readUInt16BE(6) };
}
