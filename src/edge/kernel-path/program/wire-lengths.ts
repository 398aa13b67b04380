import { AEAD_TAG_BYTES } from "../../../platform/linux/openssl/aead-key.ts";
import {
  FAST_HEADER_BYTES,
  SECURE_PREFIX_BYTES,
  SEGMENT_BYTES,
  TYPE_FAST,
  TYPE_SECURE,
  UDP_V4_BYTES,
} from "../../tunnel/wire-form.ts";

export const ETHERNET_BYTES = 14;

/** What is around the text (segment header and packet) of a datagram, by the mode. */
export interface WireLengths {
  readonly type: number;
  /** Between the header of UDP and the text. */
  readonly prefixBytes: number;
  /** Behind the text. */
  readonly tagBytes: number;
  /** Ethernet, IPv4, UDP and the prefix. */
  readonly headerBytes: number;
  /** IPv4, UDP, the prefix and the segment header: what comes before the packet instead of nothing. */
  readonly outerBytes: number;
}

function lengthsOf(type: number, prefixBytes: number, tagBytes: number): WireLengths {
  const headerBytes = ETHERNET_BYTES + UDP_V4_BYTES + prefixBytes;
  const outerBytes = UDP_V4_BYTES + prefixBytes + SEGMENT_BYTES;
  return { type, prefixBytes, tagBytes, headerBytes, outerBytes };
}

export const SECURE: WireLengths = lengthsOf(TYPE_SECURE, SECURE_PREFIX_BYTES, AEAD_TAG_BYTES);
export const FAST: WireLengths = lengthsOf(TYPE_FAST, FAST_HEADER_BYTES - SEGMENT_BYTES, 0);
