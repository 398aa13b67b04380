import type { EtcdHeader, KeyValue } from "../../wire/etcd/kv-messages.ts";
import type { EtcdClient } from "./etcd-client.ts";
import { isTooLarge } from "./etcd-errors.ts";
import { type KeyRange, keyAfter } from "./prefix-range.ts";

/** Takes a page, in ascending order of the keys; what it returns is waited for. */
export type PageTaker = (kvs: readonly KeyValue[]) => void | Promise<void>;

/**
 * All that is in a range at one moment, page by page.
 * @returns that moment
 * @throws CoreError ERR_ETCD_COMPACTED where it took so long that etcd has forgotten it: begin anew
 */
export async function listRange(
  client: EtcdClient,
  range: KeyRange,
  take: PageTaker,
): Promise<EtcdHeader> {
  let limit = client.limits.pageKeys;
  let { key } = range;
  let header: EtcdHeader | undefined;
  for (;;) {
    const revision = header?.revision ?? 0;
    const asked = { key, end: range.end, limit, revision };
    const page = await client.range(asked).catch((error: unknown) => {
      if (limit > 1 && isTooLarge(error)) return undefined;
      throw error;
    });
    if (page === undefined) {
      limit = Math.floor(limit / 2);
      continue;
    }
    header ??= page.header;
    await take(page.kvs);
    const last = page.kvs.at(-1);
    if (!page.more || last === undefined) return header;
    key = keyAfter(last.keyBytes);
  }
}
