import type { Region } from "../../net/region.ts";
import { ERRNO } from "../../platform/errno.ts";
import { flushRest, type MoveHost } from "./move-bytes.ts";
import type { RelayEnd } from "./relay-end.ts";

/**
 * Sends bytes to `to` that stand for what `from` said, in one write; what is not taken is kept as the
 * rest of `from`, which must have none. 0, or the negative errno with which it failed.
 */
export function pushBytes(
  from: RelayEnd,
  to: RelayEnd,
  parts: readonly Uint8Array[],
  { scratch, provider }: MoveHost,
): number {
  const byteCount = parts.reduce((sum, part) => sum + part.length, 0);
  if (byteCount === 0) return 0;
  const fits = byteCount <= scratch.bytes.length;
  const region = fits ? scratch : provider.allocate(byteCount);
  let at = 0;
  for (const part of parts) {
    region.bytes.set(part, at);
    at += part.length;
  }
  from.rest = region;
  from.restStart = 0;
  from.restEnd = byteCount;
  const result = flushRest(from, to);
  if (from.rest === scratch) keepOwn(from, provider.allocate(from.restEnd - from.restStart));
  return result === -ERRNO.EAGAIN ? 0 : result;
}

/** The scratch memory is used for something else right after. */
function keepOwn(from: RelayEnd, region: Region): void {
  const bytes = from.rest?.bytes.subarray(from.restStart, from.restEnd);
  if (bytes !== undefined) from.putFirst(bytes, region);
}
