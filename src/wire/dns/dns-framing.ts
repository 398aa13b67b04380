const LENGTH_BYTES = 2;
const NO_BYTES = Buffer.alloc(0);

/** Takes the messages of a DNS stream apart: each has its length before it (RFC 1035 section 4.2.2). */
export class DnsFraming {
  #pending: Buffer = NO_BYTES;

  /** The messages that are whole now; views of the chunk where that can be. */
  feed(chunk: Buffer): readonly Buffer[] {
    const bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    const messages: Buffer[] = [];
    let at = 0;
    while (at + LENGTH_BYTES <= bytes.length) {
      const end = at + LENGTH_BYTES + bytes.readUInt16BE(at);
      if (end > bytes.length) break;
      messages.push(bytes.subarray(at + LENGTH_BYTES, end));
      at = end;
    }
    // A copy: the chunk is the caller's.
    this.#pending = at === bytes.length ? NO_BYTES : Buffer.from(bytes.subarray(at));
    return messages;
  }
}

export function frameDnsMessage(message: Uint8Array): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt16BE(message.length, 0);
  return Buffer.concat([length, message]);
}
