import type { NetEventLoop } from "../../net/net-event-loop.ts";
import { type Region, RegionPool } from "../../net/region.ts";
import { HeaderBlockWriter } from "../../wire/http2/hpack/header-block-writer.ts";
import type { MemoryPool } from "../../wire/http2/output-buffer.ts";

const REGION_BYTES = 65_536;
const MAX_KEPT_REGIONS = 64;

/** What all HTTP/2 connections of a listener in one loop share, as only one of them is at work at a time. */
export class H2Memory implements MemoryPool<Region> {
  /** The loop's scratch region: what was read is in it, and is used before anything else is read. */
  readonly scratch: Buffer;
  /** For a header block, which is written and used at once. */
  readonly block: HeaderBlockWriter = new HeaderBlockWriter();
  readonly #net: NetEventLoop;
  readonly #pool: RegionPool;

  constructor(net: NetEventLoop) {
    this.#net = net;
    const { buffer, byteOffset, byteLength } = net.scratch.bytes;
    this.scratch = Buffer.from(buffer, byteOffset, byteLength);
    this.#pool = new RegionPool({
      regionBytes: REGION_BYTES,
      maxKept: MAX_KEPT_REGIONS,
      allocate: (byteCount) => net.provider.allocate(byteCount),
    });
  }

  borrow(byteCount: number): Region {
    if (byteCount <= REGION_BYTES) return this.#pool.borrow();
    return this.#net.provider.allocate(byteCount);
  }

  giveBack(region: Region): void {
    if (region.bytes.length === REGION_BYTES) this.#pool.giveBack(region);
  }
}
