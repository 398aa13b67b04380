import fc from "fast-check";
import { expect, test } from "vitest";
import { eachBeginning } from "../../../test/support/each-split.ts";
import { CoreError } from "../../core/errors.ts";
import { ProtoReader } from "../protobuf/proto-reader.ts";
import { base64, decodeEtcd, type EtcdMessage, encodeEtcd } from "./etcd-messages.fixture.ts";
import {
  rangeFrame,
  readRangeResponse,
  readTxnResponse,
  txnFrame,
  type WriteOp,
} from "./kv-messages.ts";
import {
  authenticateFrame,
  leaseGrantFrame,
  leaseIdFrame,
  readLeaseResponse,
  readToken,
} from "./lease-messages.ts";
import { readWatchResponse, watchFrame } from "./watch-messages.ts";

const FRAME_HEADER_BYTES = 5;
const HEADER = { cluster_id: "18446744073709551615", member_id: 7, revision: 42, raft_term: 3 };
/** As it is read: what has all 64 bits set is signed there, which is the same for comparing. */
const header = { clusterId: -1n, revision: 42 };
const bytesOf = (text: string): Buffer => Buffer.from(text);

/** What etcd would read of a frame that we write. */
function readByEtcd(type: string, frame: Buffer): EtcdMessage {
  expect(frame[0]).toBe(0);
  expect(frame.readUInt32BE(1)).toBe(frame.length - FRAME_HEADER_BYTES);
  return decodeEtcd(type, frame.subarray(FRAME_HEADER_BYTES));
}

/** What we read of what etcd would write. */
function readOf<T>(read: (reader: ProtoReader) => T, type: string, message: EtcdMessage): T {
  return read(new ProtoReader().reset(encodeEtcd(type, message)));
}

function put(key: string, lease: bigint | "keep" = 0n): WriteOp {
  return { op: "put", key: bytesOf(key), value: bytesOf(`of ${key}`), lease };
}

test("ranges are asked for as etcd reads them", () => {
  expect(readByEtcd("RangeRequest", rangeFrame({ key: bytesOf("/a") }))).toEqual({
    key: base64("/a"),
  });
  const request = {
    key: bytesOf("/a/"),
    end: bytesOf("/a0"),
    limit: 500,
    revision: 2 ** 40,
    isCountOnly: true,
  };
  expect(readByEtcd("RangeRequest", rangeFrame(request))).toEqual({
    key: base64("/a/"),
    range_end: base64("/a0"),
    limit: "500",
    revision: String(2 ** 40),
    count_only: true,
  });
});

test("an answer about a range is read as etcd writes it, keys of any bytes among it", () => {
  const key = Buffer.from([0x2f, 0xff, 0x00, 0x61]);
  const kvs = [
    { key, create_revision: 1, mod_revision: 41, version: 2, value: bytesOf("x"), lease: "-3" },
    { key: bytesOf("/empty"), mod_revision: 2 ** 40 },
  ];
  const message = { header: HEADER, kvs, more: true, count: 9 };
  expect(readOf(readRangeResponse, "RangeResponse", message)).toEqual({
    header,
    more: true,
    kvs: [
      { keyBytes: key, key: key.toString(), value: bytesOf("x"), modRevision: 41, lease: -3n },
      {
        keyBytes: bytesOf("/empty"),
        key: "/empty",
        value: Buffer.alloc(0),
        modRevision: 2 ** 40,
        lease: 0n,
      },
    ],
  });
  expect(readOf(readRangeResponse, "RangeResponse", {})).toEqual({
    header: { clusterId: 0n, revision: 0 },
    kvs: [],
    more: false,
  });
});

test("a transaction is written as etcd reads it; 0 is said where a key must not be there", () => {
  const frame = txnFrame(
    [
      { what: "unchanged", key: bytesOf("/new"), modRevision: 0 },
      { what: "unchanged", key: bytesOf("/old"), modRevision: 12 },
      { what: "none-after", key: bytesOf("/a/"), end: bytesOf("/a0"), revision: 30 },
    ],
    [
      put("/new"),
      put("/leased", 99n),
      put("/old", "keep"),
      { op: "delete", key: bytesOf("/gone") },
      { op: "delete", key: bytesOf("/b/"), end: bytesOf("/b0") },
    ],
    10,
  );
  const unchanged = { target: "MOD" };
  expect(readByEtcd("TxnRequest", frame)).toEqual({
    compare: [
      { ...unchanged, key: base64("/new"), mod_revision: "0" },
      { ...unchanged, key: base64("/old"), mod_revision: "12" },
      {
        result: "LESS",
        target: "MOD",
        key: base64("/a/"),
        range_end: base64("/a0"),
        mod_revision: "31",
      },
    ],
    success: [
      { request_put: { key: base64("/new"), value: base64("of /new") } },
      { request_put: { key: base64("/leased"), value: base64("of /leased"), lease: "99" } },
      { request_put: { key: base64("/old"), value: base64("of /old"), ignore_lease: true } },
      { request_delete_range: { key: base64("/gone") } },
      { request_delete_range: { key: base64("/b/"), range_end: base64("/b0") } },
    ],
  });
});

test("more operations than fit are nested, none left out, their order kept", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 8 }), (count, width) => {
      const names = Array.from({ length: count }, (_, index) => `/${index}`);
      const ops = names.map((name) => put(name));
      const { success } = readByEtcd("TxnRequest", txnFrame([], ops, width));
      const outer = listOf(success);
      const inner =
        count <= width
          ? outer
          : outer.flatMap((op) => {
              const nested = listOf(fieldOf(fieldOf(op, "request_txn"), "success"));
              expect(nested.length).toBeLessThanOrEqual(width);
              return nested;
            });
      expect(inner.map((op) => fieldOf(fieldOf(op, "request_put"), "key"))).toEqual(
        names.map(base64),
      );
    }),
  );
});

test("whether a transaction was done", () => {
  const done = { header: HEADER, succeeded: true };
  expect(readOf(readTxnResponse, "TxnResponse", done)).toEqual({ header, succeeded: true });
  expect(readOf(readTxnResponse, "TxnResponse", { header: HEADER })).toEqual({
    header,
    succeeded: false,
  });
});

test("a watch asks to be told how far it is, and for long answers in parts", () => {
  const frame = watchFrame(bytesOf("/a/"), bytesOf("/a0"), 43);
  expect(readByEtcd("WatchRequest", frame)).toEqual({
    create_request: {
      key: base64("/a/"),
      range_end: base64("/a0"),
      start_revision: "43",
      progress_notify: true,
      fragment: true,
    },
  });
});

test("what a watch tells: changes, progress, parts, a compaction, an end", () => {
  const kv = { key: bytesOf("/a"), mod_revision: 41, value: bytesOf("x") };
  const events = [{ kv }, { type: "DELETE", kv: { key: bytesOf("/b"), mod_revision: 42 } }];
  const message = { header: HEADER, watch_id: 5, created: true, fragment: true, events };
  const nothing = {
    header,
    created: false,
    canceled: false,
    cancelReason: "",
    compactRevision: 0,
    isPart: false,
    events: [],
  };
  expect(readOf(readWatchResponse, "WatchResponse", message)).toMatchObject({
    ...nothing,
    created: true,
    isPart: true,
    events: [
      { type: "put", kv: { key: "/a", modRevision: 41, value: bytesOf("x") } },
      { type: "delete", kv: { key: "/b", modRevision: 42 } },
    ],
  });
  expect(readOf(readWatchResponse, "WatchResponse", { header: HEADER })).toEqual(nothing);
  const ended = { canceled: true, compact_revision: 30, cancel_reason: "compacted" };
  expect(readOf(readWatchResponse, "WatchResponse", { header: HEADER, ...ended })).toEqual({
    ...nothing,
    canceled: true,
    compactRevision: 30,
    cancelReason: "compacted",
  });
});

test("leases and tokens, with ids of all 64 bits", () => {
  const id = -(2n ** 63n);
  expect(readByEtcd("LeaseGrantRequest", leaseGrantFrame(10))).toEqual({ TTL: "10" });
  expect(readByEtcd("LeaseKeepAliveRequest", leaseIdFrame(id))).toEqual({ ID: String(id) });
  expect(readByEtcd("LeaseRevokeRequest", leaseIdFrame(7n))).toEqual({ ID: "7" });
  const granted = { header: HEADER, ID: String(id), TTL: 9 };
  expect(readOf(readLeaseResponse, "LeaseGrantResponse", granted)).toEqual({ id, ttlSeconds: 9 });
  const gone = { header: HEADER, ID: "7", TTL: -1 };
  expect(readOf(readLeaseResponse, "LeaseKeepAliveResponse", gone)).toEqual({
    id: 7n,
    ttlSeconds: -1,
  });
  expect(readByEtcd("AuthenticateRequest", authenticateFrame("node", "pässword"))).toEqual({
    name: "node",
    password: "pässword",
  });
  const token = { header: HEADER, token: "abc.7" };
  expect(readOf(readToken, "AuthenticateResponse", token)).toBe("abc.7");
});

test("an answer that breaks off anywhere is refused or read as far as it goes, never past its end", () => {
  const events = [{ kv: { key: bytesOf("/a"), mod_revision: 41, value: bytesOf("x") } }];
  const whole = encodeEtcd("WatchResponse", { header: HEADER, created: true, events });
  const outcomes = [...eachBeginning(whole)].map((bytes) => {
    try {
      return readWatchResponse(new ProtoReader().reset(bytes)).events.length;
    } catch (error) {
      expect(error).toBeInstanceOf(CoreError);
      return "refused";
    }
  });
  expect(new Set(outcomes)).toEqual(new Set([0, "refused"]));
});

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new TypeError("no list");
  return value;
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) throw new TypeError(`no ${name}`);
  return new Map<string, unknown>(Object.entries(value)).get(name);
}
