import type { ProtoReader } from "../protobuf/proto-reader.ts";
import { ProtoWriter } from "../protobuf/proto-writer.ts";

/** Whose answer it is, and how far that member was. */
export interface EtcdHeader {
  readonly clusterId: bigint;
  readonly revision: number;
}

export interface KeyValue {
  /** As it is in etcd, where a key is any bytes. */
  readonly keyBytes: Buffer;
  readonly key: string;
  readonly value: Buffer;
  /** The revision that made it what it is. */
  readonly modRevision: number;
  /** 0: bound to none. */
  readonly lease: bigint;
}

export interface RangeRequest {
  readonly key: Uint8Array;
  /** The first key that is too far; missing: just `key`. */
  readonly end?: Uint8Array | undefined;
  /** 0: all. */
  readonly limit?: number;
  /** 0: as it is now. */
  readonly revision?: number;
  readonly isCountOnly?: boolean;
}

export interface RangeResponse {
  readonly header: EtcdHeader;
  readonly kvs: readonly KeyValue[];
  readonly more: boolean;
}

/** What has to hold for a transaction to be done. */
export type Compare =
  /** The key was last changed at this revision; 0: it is not there. */
  | { readonly what: "unchanged"; readonly key: Uint8Array; readonly modRevision: number }
  /** Nothing from `key` up to `end` was put after this revision. */
  | {
      readonly what: "none-after";
      readonly key: Uint8Array;
      readonly end: Uint8Array;
      readonly revision: number;
    };

export type WriteOp =
  | {
      readonly op: "put";
      readonly key: Uint8Array;
      readonly value: Uint8Array;
      /** `keep`: that which it is bound to already; it must be there then. */
      readonly lease: bigint | "keep";
    }
  | { readonly op: "delete"; readonly key: Uint8Array; readonly end?: Uint8Array | undefined };

export interface TxnResponse {
  readonly header: EtcdHeader;
  readonly succeeded: boolean;
}

const EMPTY_HEADER: EtcdHeader = { clusterId: 0n, revision: 0 };
const COMPARE_EQUAL = 0;
const COMPARE_LESS = 2;
const TARGET_MOD = 2;
const OP_PUT = 2;
const OP_DELETE = 3;
const OP_TXN = 4;

/** A message in its frame. */
export function frame(write: (writer: ProtoWriter) => void): Buffer {
  const writer = new ProtoWriter();
  writer.beginFrame();
  write(writer);
  writer.endFrame();
  return writer.view();
}

export function rangeFrame(request: RangeRequest): Buffer {
  return frame((writer) => {
    writer.bytes(1, request.key);
    if (request.end !== undefined) writer.bytes(2, request.end);
    writer.uint64(3, BigInt(request.limit ?? 0));
    writer.uint64(4, BigInt(request.revision ?? 0));
    writer.bool(9, request.isCountOnly ?? false);
  });
}

/**
 * A transaction. etcd takes few operations at once (`--max-txn-ops`), but a transaction may be an
 * operation of another: with more than `width` they are put into such, all of which is one revision.
 */
export function txnFrame(
  compares: readonly Compare[],
  ops: readonly WriteOp[],
  width: number,
): Buffer {
  return frame((writer) => {
    for (const compare of compares) writeCompare(writer, compare);
    if (ops.length <= width) writeOps(writer, ops);
    else {
      for (let at = 0; at < ops.length; at += width) {
        writer.begin(2);
        writer.begin(OP_TXN);
        writeOps(writer, ops.slice(at, at + width));
        writer.end();
        writer.end();
      }
    }
  });
}

function writeCompare(writer: ProtoWriter, compare: Compare): void {
  writer.begin(1);
  writer.uint32(1, compare.what === "unchanged" ? COMPARE_EQUAL : COMPARE_LESS);
  writer.uint32(2, TARGET_MOD);
  writer.bytes(3, compare.key);
  if (compare.what === "none-after") {
    writer.uint64(6, BigInt(compare.revision) + 1n);
    writer.bytes(64, compare.end);
  } else if (compare.modRevision === 0) writer.uint32Always(6, 0);
  else writer.uint64(6, BigInt(compare.modRevision));
  writer.end();
}

function writeOps(writer: ProtoWriter, ops: readonly WriteOp[]): void {
  for (const op of ops) {
    writer.begin(2);
    writer.begin(op.op === "put" ? OP_PUT : OP_DELETE);
    writer.bytes(1, op.key);
    if (op.op === "put") {
      writer.bytes(2, op.value);
      if (op.lease === "keep") writer.bool(6, true);
      else writer.uint64(3, op.lease);
    } else if (op.end !== undefined) writer.bytes(2, op.end);
    writer.end();
    writer.end();
  }
}

export function readRangeResponse(reader: ProtoReader): RangeResponse {
  let header = EMPTY_HEADER;
  let more = false;
  const kvs: KeyValue[] = [];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) header = readHeader(reader);
    else if (field === 2) kvs.push(readKeyValue(reader));
    else if (field === 3) more = reader.bool();
    else reader.skip();
  }
  return { header, kvs, more };
}

export function readTxnResponse(reader: ProtoReader): TxnResponse {
  let header = EMPTY_HEADER;
  let succeeded = false;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) header = readHeader(reader);
    else if (field === 2) succeeded = reader.bool();
    else reader.skip();
  }
  return { header, succeeded };
}

export function readHeader(reader: ProtoReader): EtcdHeader {
  const outer = reader.enter();
  let clusterId = 0n;
  let revision = 0;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) clusterId = reader.int64();
    else if (field === 3) revision = reader.count();
    else reader.skip();
  }
  reader.leave(outer);
  return { clusterId, revision };
}

const NO_BYTES = Buffer.alloc(0);

export function readKeyValue(reader: ProtoReader): KeyValue {
  const outer = reader.enter();
  let keyBytes: Buffer = NO_BYTES;
  let value: Buffer = NO_BYTES;
  let modRevision = 0;
  let lease = 0n;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) keyBytes = reader.bytes();
    else if (field === 3) modRevision = reader.count();
    else if (field === 5) value = reader.bytes();
    else if (field === 6) lease = reader.int64();
    else reader.skip();
  }
  reader.leave(outer);
  return { keyBytes, key: keyBytes.toString("utf8"), value, modRevision, lease };
}
