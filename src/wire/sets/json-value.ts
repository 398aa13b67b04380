import { CoreError, messageOf } from "../../core/errors.ts";
import { canonicalJson } from "../../core/model/hash.ts";
import type { Kind, ModelObject, ObjectOf } from "../../core/model/object.ts";
import { parseKind } from "../../core/model/parse.ts";
import type { ProtoReader } from "../protobuf/proto-reader.ts";

/** An object for which KPNG has no message travels as JSON. */
export function jsonBytesOf(object: ModelObject): Buffer {
  return Buffer.from(canonicalJson(object));
}

/**
 * Reads the rest of the reader's current message as such an object.
 * @throws CoreError ERR_API_PROTOCOL where it is none
 */
export function readJsonObject<K extends Kind>(kind: K, reader: ProtoReader): ObjectOf<K> {
  try {
    return parseKind(kind, JSON.parse(reader.restAsText()));
  } catch (error) {
    throw new CoreError("ERR_API_PROTOCOL", `${kind} from the API: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

function reasonOf(error: unknown): string {
  return messageOf(error);
}
