import { ABSENT, MORE, type ProxyHeader } from "./proxy-header.ts";
import { parseProxyV1, V1_SIGNATURE } from "./proxy-v1.ts";
import { parseProxyV2, V2_SIGNATURE } from "./proxy-v2.ts";

const V1_BYTES = Buffer.from(V1_SIGNATURE, "latin1");

/**
 * Reads a PROXY protocol header of either version (haproxy.org, proxy-protocol.txt) at the beginning of a
 * connection. Only to be asked about peers that are trusted: anyone can write one.
 */
export function parseProxyHeader(bytes: Buffer, start: number, end: number): ProxyHeader {
  if (end <= start) return MORE;
  if (beginsWith(bytes, start, end, V1_BYTES)) {
    return end - start < V1_BYTES.length ? MORE : parseProxyV1(bytes, start, end);
  }
  if (beginsWith(bytes, start, end, V2_SIGNATURE)) {
    return end - start < V2_SIGNATURE.length ? MORE : parseProxyV2(bytes, start, end);
  }
  return ABSENT;
}

/** As far as there are bytes to compare. */
function beginsWith(bytes: Buffer, start: number, end: number, signature: Buffer): boolean {
  const count = Math.min(end - start, signature.length);
  return bytes.compare(signature, 0, count, start, start + count) === 0;
}
