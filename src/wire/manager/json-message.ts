import { CoreError } from "../../core/errors.ts";
import type { ProtoReader } from "../protobuf/proto-reader.ts";
import { ProtoWriter } from "../protobuf/proto-writer.ts";

const OBJECT_FIELD = 1;

/** `managerv1.Json` in its frame. */
export function jsonFrame(value: object): Buffer {
  const writer = new ProtoWriter();
  writer.beginFrame();
  writer.bytes(OBJECT_FIELD, Buffer.from(JSON.stringify(value)));
  writer.endFrame();
  return writer.view();
}

/** @throws CoreError ERR_API_PROTOCOL */
export function readJsonMessage(reader: ProtoReader): unknown {
  let text = "{}";
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === OBJECT_FIELD) text = reader.bytes().toString("utf8");
    else reader.skip();
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CoreError("ERR_API_PROTOCOL", "the message is no JSON; expected an object", {
      cause,
    });
  }
}
