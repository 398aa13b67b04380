import { readSocks5Address, renderSocks5Address } from "./socks5-address.ts";
import type { Socks5Address } from "./socks5-words.ts";

const RESERVED_BYTES = 2;
const HEADER_START = RESERVED_BYTES + 1;

export interface Socks5Datagram {
  readonly address: Socks5Address;
  /** A view. */
  readonly payload: Buffer;
}

/**
 * Reads a datagram that a client sent to its association. Undefined where it is none, or one of
 * several fragments, which may be dropped (RFC 1928 section 7).
 */
export function readSocks5Datagram(bytes: Buffer): Socks5Datagram | undefined {
  if (bytes.length < HEADER_START || bytes.readUIntBE(0, HEADER_START) !== 0) return undefined;
  const outcome = readSocks5Address(bytes, HEADER_START);
  if (outcome.kind !== "address") return undefined;
  return { address: outcome.address, payload: bytes.subarray(outcome.end) };
}

/** The header that goes before a datagram which came from `ip` and `port`. */
export function renderSocks5DatagramHeader(ip: string, port: number): Buffer {
  return Buffer.concat([Buffer.alloc(HEADER_START), renderSocks5Address(ip, port)]);
}
