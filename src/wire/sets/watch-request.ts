import type { ProtoReader } from "../protobuf/proto-reader.ts";
import type { ProtoWriter } from "../protobuf/proto-writer.ts";
import { EXTENSION_FIELD, EXTENSION_VERSION } from "./set-id.ts";

const SETS_FIELD = 101;
const INTEREST_FIELD = 102;
const HAS_INTEREST_FIELD = 103;

/** `localv1.WatchReq` and, without a node's name, `globalv1.GlobalWatchReq`. */
export interface WatchRequestMessage {
  readonly nodeName: string;
  /** 0 for a client that does not know our fields. */
  readonly extension: number;
  /** Numbers of the further sets that are wanted. */
  readonly sets: readonly number[];
  /** Keys of the only services that are wanted; undefined: all. */
  readonly interest: readonly string[] | undefined;
}

/** A framed request of a client that knows our fields. */
export function writeWatchRequest(
  writer: ProtoWriter,
  nodeName: string,
  sets: readonly number[],
  interest?: readonly string[],
): void {
  writer.beginFrame();
  writer.string(1, nodeName);
  writer.uint32(EXTENSION_FIELD, EXTENSION_VERSION);
  writer.packed(SETS_FIELD, sets);
  if (interest !== undefined) {
    writer.strings(INTEREST_FIELD, interest);
    writer.bool(HAS_INTEREST_FIELD, true);
  }
  writer.endFrame();
}

export function readWatchRequest(reader: ProtoReader): WatchRequestMessage {
  let nodeName = "";
  let extension = 0;
  let hasInterest = false;
  const sets: number[] = [];
  const interest: string[] = [];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) nodeName = reader.string();
    else if (field === EXTENSION_FIELD) extension = reader.uint32();
    else if (field === SETS_FIELD) reader.numbersInto(sets);
    else if (field === INTEREST_FIELD) interest.push(reader.string());
    else if (field === HAS_INTEREST_FIELD) hasInterest = reader.bool();
    else reader.skip();
  }
  return { nodeName, extension, sets, interest: hasInterest ? interest : undefined };
}
