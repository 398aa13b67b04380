import type { ProtoReader } from "../protobuf/proto-reader.ts";
import type { ProtoWriter } from "../protobuf/proto-writer.ts";

const OP_FIELD = { sync: 1, set: 2, delete: 3, reset: 4 } as const;

/** Begins a framed `OpItem` that sets a value: the fields of the value are to follow. */
export function beginSet(writer: ProtoWriter, setId: number, path: string): void {
  writer.beginFrame();
  writer.begin(OP_FIELD.set);
  writeRef(writer, 1, setId, path);
  writer.begin(2);
}

export function endSet(writer: ProtoWriter): void {
  writer.end();
  writer.end();
  writer.endFrame();
}

export function writeDelete(writer: ProtoWriter, setId: number, path: string): void {
  writer.beginFrame();
  writeRef(writer, OP_FIELD.delete, setId, path);
  writer.endFrame();
}

export function writeSync(writer: ProtoWriter): void {
  writeEmpty(writer, OP_FIELD.sync);
}

export function writeReset(writer: ProtoWriter): void {
  writeEmpty(writer, OP_FIELD.reset);
}

function writeEmpty(writer: ProtoWriter, field: number): void {
  writer.beginFrame();
  writer.begin(field);
  writer.end();
  writer.endFrame();
}

function writeRef(writer: ProtoWriter, field: number, setId: number, path: string): void {
  writer.begin(field);
  writer.uint32(1, setId);
  writer.string(2, path);
  writer.end();
}

/** A message as it came; the value of a set is still encoded, from `start` to `end` of its bytes. */
export type RawOp =
  | { readonly op: "sync" }
  | { readonly op: "reset" }
  | {
      readonly op: "set";
      readonly set: number;
      readonly path: string;
      readonly start: number;
      readonly end: number;
    }
  | { readonly op: "delete"; readonly set: number; readonly path: string }
  /** An operation of a time to come: to be passed over. */
  | { readonly op: "unknown" };

const RAW_SYNC: RawOp = { op: "sync" };
const RAW_RESET: RawOp = { op: "reset" };
const RAW_UNKNOWN: RawOp = { op: "unknown" };

/** Reads the rest of the reader's message as an `OpItem`. As in every oneof, the last field counts. */
export function readOpItem(reader: ProtoReader): RawOp {
  let item = RAW_UNKNOWN;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    switch (field) {
      case OP_FIELD.sync:
        reader.skip();
        item = RAW_SYNC;
        break;
      case OP_FIELD.reset:
        reader.skip();
        item = RAW_RESET;
        break;
      case OP_FIELD.set:
        item = readValue(reader);
        break;
      case OP_FIELD.delete: {
        const ref = readRef(reader);
        item = { op: "delete", set: ref.set, path: ref.path };
        break;
      }
      default:
        reader.skip();
    }
  }
  return item;
}

interface Ref {
  readonly set: number;
  readonly path: string;
}

const NO_REF: Ref = { set: 0, path: "" };

function readRef(reader: ProtoReader): Ref {
  const outer = reader.enter();
  let set = 0;
  let path = "";
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) set = reader.uint32();
    else if (field === 2) path = reader.string();
    else reader.skip();
  }
  reader.leave(outer);
  return { set, path };
}

function readValue(reader: ProtoReader): RawOp {
  const outer = reader.enter();
  let ref = NO_REF;
  let start = 0;
  let end = 0;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) ref = readRef(reader);
    else if (field === 2) {
      const value = reader.enter();
      start = reader.position;
      reader.leave(value);
      end = reader.position;
    } else reader.skip();
  }
  reader.leave(outer);
  return { op: "set", set: ref.set, path: ref.path, start, end };
}
