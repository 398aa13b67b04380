import { createHmac, timingSafeEqual } from "node:crypto";
import { shortHeader, TOKEN_BYTES, TYPE } from "./wire-form.ts";

const LABEL = "portolan kcp: session not known";

/** What an end says that does not know a session (any more); as the stateless reset of QUIC (RFC 9000, 10.3). */
export function renderReset(key: Uint8Array, index: number): Buffer {
  const header = shortHeader(TYPE.RESET, index);
  const token = createHmac("sha256", key).update(LABEL).update(header).digest();
  return Buffer.concat([header, token.subarray(0, TOKEN_BYTES)]);
}

export function isReset(key: Uint8Array, index: number, datagram: Uint8Array): boolean {
  const expected = renderReset(key, index);
  return datagram.length === expected.length && timingSafeEqual(expected, datagram);
}
