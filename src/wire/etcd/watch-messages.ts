import type { ProtoReader } from "../protobuf/proto-reader.ts";
import { type EtcdHeader, frame, type KeyValue, readHeader, readKeyValue } from "./kv-messages.ts";

export interface WatchEvent {
  readonly type: "put" | "delete";
  /** Of what was deleted only key and revision. */
  readonly kv: KeyValue;
}

export interface WatchResponse {
  readonly header: EtcdHeader;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly cancelReason: string;
  /** Where it asked for what is no longer kept: the oldest revision that still is. */
  readonly compactRevision: number;
  /** More of the same answer follows. */
  readonly isPart: boolean;
  readonly events: readonly WatchEvent[];
}

const TYPE_DELETE = 1;

/** Asks for all changes from `key` up to `end`, beginning with those of `fromRevision`. */
export function watchFrame(key: Uint8Array, end: Uint8Array, fromRevision: number): Buffer {
  return frame((writer) => {
    writer.begin(1);
    writer.bytes(1, key);
    writer.bytes(2, end);
    writer.uint64(3, BigInt(fromRevision));
    // How far it is, also where nothing changes: so a long silence does not end in a compaction.
    writer.bool(4, true);
    // Long answers in parts.
    writer.bool(8, true);
    writer.end();
  });
}

export function readWatchResponse(reader: ProtoReader): WatchResponse {
  let header: EtcdHeader = { clusterId: 0n, revision: 0 };
  let created = false;
  let canceled = false;
  let cancelReason = "";
  let compactRevision = 0;
  let isPart = false;
  const events: WatchEvent[] = [];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    switch (field) {
      case 1:
        header = readHeader(reader);
        break;
      case 3:
        created = reader.bool();
        break;
      case 4:
        canceled = reader.bool();
        break;
      case 5:
        compactRevision = reader.count();
        break;
      case 6:
        cancelReason = reader.string();
        break;
      case 7:
        isPart = reader.bool();
        break;
      case 11:
        readEvent(reader, events);
        break;
      default:
        reader.skip();
    }
  }
  return { header, created, canceled, cancelReason, compactRevision, isPart, events };
}

function readEvent(reader: ProtoReader, into: WatchEvent[]): void {
  const outer = reader.enter();
  let type: WatchEvent["type"] = "put";
  let kv: KeyValue | undefined;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) type = reader.uint32() === TYPE_DELETE ? "delete" : "put";
    else if (field === 2) kv = readKeyValue(reader);
    else reader.skip();
  }
  reader.leave(outer);
  if (kv !== undefined) into.push({ type, kv });
}
