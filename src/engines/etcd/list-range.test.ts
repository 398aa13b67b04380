import { expect, test } from "vitest";
import { base64 } from "../../wire/etcd/etcd-messages.fixture.ts";
import { listRange } from "./list-range.ts";
import { prefixRange } from "./prefix-range.ts";
import { clientOf, scriptEtcd } from "./scripted-etcd.fixture.ts";

const OUT_OF_RANGE = 11;
const HEADER = { cluster_id: 1, revision: 7 };
const kv = (key: string, bytes = 1) => ({
  key: Buffer.from(key),
  mod_revision: 3,
  value: Buffer.alloc(bytes),
});

test("each page begins after the last key of the one before, all at the revision of the first", async () => {
  const asked: unknown[] = [];
  const pages = [[kv("/a/1"), kv("/a/2")], [kv("/a/2\u0000x")], []];
  const { port } = await scriptEtcd(({ request, reply }) => {
    asked.push(request);
    const kvs = pages.shift() ?? [];
    // Others go on writing: later pages come with a later revision of the header.
    reply({ header: { ...HEADER, revision: 6 + asked.length }, kvs, more: pages.length > 0 });
  });
  const found: string[][] = [];
  const client = clientOf([port], { limits: { pageKeys: 2 } });
  const header = await listRange(client, prefixRange("/a/"), (kvs) => {
    found.push(kvs.map(({ key }) => key));
  });
  expect(header).toEqual({ clusterId: 1n, revision: 7 });
  expect(found).toEqual([["/a/1", "/a/2"], ["/a/2\u0000x"], []]);
  const rest = { range_end: base64("/a0"), limit: "2" };
  expect(asked).toEqual([
    { ...rest, key: base64("/a/") },
    { ...rest, key: base64("/a/2\u0000"), revision: "7" },
    { ...rest, key: base64("/a/2\u0000x\u0000"), revision: "7" },
  ]);
});

test("pages that are too large are asked for by half, down to one; one alone is refused", async () => {
  const keys = ["/a/1", "/a/2", "/a/3", "/a/4", "/a/5"];
  const limits: number[] = [];
  const { port } = await scriptEtcd(({ request, reply }) => {
    const limit = Number(request["limit"]);
    limits.push(limit);
    const from = Buffer.from(String(request["key"]), "base64").toString();
    const left = keys.filter((key) => key >= from);
    const kvs = left.slice(0, limit).map((key) => kv(key, 400));
    reply({ header: HEADER, kvs, more: left.length > limit });
  });
  const found: string[] = [];
  const take = (kvs: readonly { readonly key: string }[]): void => {
    found.push(...kvs.map(({ key }) => key));
  };
  const some = clientOf([port], { limits: { pageKeys: 4, maxMessageBytes: 1000 } });
  await listRange(some, prefixRange("/a/"), take);
  expect(found).toEqual(keys);
  expect(limits).toEqual([4, 2, 2, 2]);
  const none = clientOf([port], { limits: { pageKeys: 4, maxMessageBytes: 300 } });
  await expect(listRange(none, prefixRange("/a/"), take)).rejects.toMatchObject({
    code: "ERR_API_MESSAGE_TOO_LARGE",
  });
});

test("a moment that etcd has forgotten between two pages is told as such", async () => {
  let count = 0;
  const { port } = await scriptEtcd((call) => {
    count += 1;
    if (count === 1) call.reply({ header: HEADER, kvs: [kv("/a/1")], more: true });
    else {
      call.fail(OUT_OF_RANGE, "etcdserver: mvcc: required revision has been compacted");
    }
  });
  await expect(
    listRange(clientOf([port]), prefixRange("/a/"), () => undefined),
  ).rejects.toMatchObject({ code: "ERR_ETCD_COMPACTED" });
});
