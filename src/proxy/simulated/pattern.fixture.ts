import { seededRandom } from "../../net/memory/random.ts";

const PERIOD = 65_536;
const random = seededRandom(PERIOD);
/** Twice the same, so that a piece may begin anywhere. */
const TABLE = (() => {
  const once = Buffer.from(Array.from({ length: PERIOD }, () => Math.floor(random() * 256)));
  return Buffer.concat([once, once]);
})();
/** Where the bytes of one begin, far from those of the next. */
const STRIDE = 9973;

/**
 * At most `PERIOD` of the bytes that one call sends, from `start`. They tell whose they are and where in
 * the stream: none can be lost, doubled or mixed up unseen.
 */
export function patternBytes(id: number, start: number, byteCount: number): Buffer {
  const from = (id * STRIDE + start) % PERIOD;
  return TABLE.subarray(from, from + Math.min(byteCount, PERIOD));
}
