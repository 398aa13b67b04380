/**
 * # What is in a datagram
 *
 *     initiation   01 00 00 00 | sender (4) | the first message of the handshake
 *     response     02 00 00 00 | receiver (4) | the second one
 *     sealed       03 | counter (7) | receiver (4) | sealed packet of KCP | tag (16)
 *     reset        04 00 00 00 | receiver (4) | token (16)
 *
 * Numbers are little-endian. `sender` and `receiver` are the numbers that an end gave to the session. A **reset** says
 * that the session is not known (any more), as after a restart; who knows the shared key alone can make its token. It
 * is a hint: a copy of a datagram makes another loop of the same server say so, too, and only silence proves it.
 */
export const TYPE = { INITIATION: 1, RESPONSE: 2, SEALED: 3, RESET: 4 } as const;

const INDEX_AT = 4;
export const HANDSHAKE_AT = 8;
export const SEALED_AT = 12;
const SEALED_INDEX_AT = 8;
export const TAG_BYTES = 16;
export const TOKEN_BYTES = 16;
export const RESET_BYTES: number = HANDSHAKE_AT + TOKEN_BYTES;
const HIGH_WORD = 2 ** 24;

/** A counter goes no further; that many datagrams nobody sends. */
export const MAX_COUNTER: number = 2 ** 52;

export function putSealedHeader(view: DataView, counter: number, receiver: number): void {
  view.setUint32(0, ((counter % HIGH_WORD) << 8) | TYPE.SEALED, true);
  view.setUint32(4, Math.floor(counter / HIGH_WORD), true);
  view.setUint32(SEALED_INDEX_AT, receiver, true);
}

export function counterOf(view: DataView): number {
  return (view.getUint32(0, true) >>> 8) + view.getUint32(4, true) * HIGH_WORD;
}

/** The first eight bytes of all others. */
export function shortHeader(type: number, index: number): Buffer {
  const bytes = Buffer.alloc(HANDSHAKE_AT);
  bytes[0] = type;
  bytes.writeUInt32LE(index, INDEX_AT);
  return bytes;
}
