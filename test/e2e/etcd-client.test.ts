import { describe, expect, test } from "vitest";
import { Lease } from "../../src/engines/etcd/lease.ts";
import { listRange } from "../../src/engines/etcd/list-range.ts";
import { prefixRange } from "../../src/engines/etcd/prefix-range.ts";
import type { WriteOp } from "../../src/wire/etcd/kv-messages.ts";
import { startEtcd } from "../support/etcd.ts";
import { requires } from "../support/requires.ts";

function put(key: string, value = key, lease = 0n): WriteOp {
  return { op: "put", key: Buffer.from(key), value: Buffer.from(value), lease };
}

describe("a client of etcd", requires("etcd", "etcdctl"), () => {
  test("lists a prefix in pages, all of one moment, and nothing beside it", async () => {
    const etcd = await startEtcd();
    const client = etcd.client({ limits: { pageKeys: 7 } });
    const keys = Array.from({ length: 50 }, (_, index) => `/a/${String(index).padStart(3, "0")}`);
    await client.transact(
      [],
      [...keys, "/b/1", "/A"].map((key) => put(key)),
    );
    const found: string[] = [];
    const { revision } = await listRange(client, prefixRange("/a/"), async (kvs) => {
      found.push(...kvs.map(({ key }) => key));
      await client.transact([], [put("/a/999")]);
    });
    expect(found).toEqual(keys);
    expect(revision).toBe(2);
  });

  test("does thousands of operations at once, or none where a compare fails", async () => {
    const client = (await startEtcd()).client();
    const key = Buffer.from("/guard");
    const ops = Array.from({ length: 3000 }, (_, index) => put(`/many/${index}`));
    const absent = { what: "unchanged", key, modRevision: 0 } as const;
    const first = await client.transact([absent], [...ops, put("/guard")]);
    expect(first).toMatchObject({ succeeded: true, header: { revision: 2 } });
    expect(await client.transact([absent], [put("/many/0", "other")])).toMatchObject({
      succeeded: false,
    });
    const range = prefixRange("/many/");
    const since = (revision: number) => ({ what: "none-after", ...range, revision }) as const;
    expect(await client.transact([since(2)], [put("/many/1", "next")])).toMatchObject({
      succeeded: true,
    });
    expect(await client.transact([since(2)], [put("/many/1", "late")])).toMatchObject({
      succeeded: false,
    });
    const { kvs } = await client.range({ key: Buffer.from("/many/1") });
    expect(kvs.map(({ value, modRevision }) => [String(value), modRevision])).toEqual([
      ["next", 3],
    ]);
  });

  test("what is bound to a lease lives as long as its owner", async () => {
    const etcd = await startEtcd();
    const client = etcd.client();
    const lease = await Lease.grant(client, 1);
    await client.transact([], [put("/leased", "x", lease.id)]);
    const there = async () => (await client.range({ key: Buffer.from("/leased") })).kvs.length;
    // Longer than it would live by itself.
    const since = performance.now();
    while (performance.now() - since < 2500) expect(await there()).toBe(1);
    await lease.revoke();
    expect(await there()).toBe(0);
    const other = await Lease.grant(client, 1);
    await etcd.ctl("lease", "revoke", other.id.toString(16));
    await expect(other.lost).rejects.toMatchObject({ code: "ERR_LEASE_LOST" });
  });
});
