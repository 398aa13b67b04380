import { isUtf8 } from "node:buffer";
import { isJson, jsonDocument } from "./json-document.ts";
import { malformed } from "./malformed.ts";
import type { Document, StateFile } from "./state-file.ts";
import { yamlDocuments } from "./yaml-documents.ts";

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/**
 * The documents of a file, one after the other. Documents without content are left out.
 * @throws CoreError ERR_STATE_INVALID where the text is malformed, with file and line
 */
export function* documentsOf(given: StateFile): Generator<Document> {
  const file = withoutMark(given);
  if (!isUtf8(file.bytes)) {
    throw malformed({ file, line: 1, reason: "bytes that are not UTF-8", expected: "UTF-8 text" });
  }
  const json = isJson(file.bytes) ? jsonDocument(file) : undefined;
  if (json !== undefined) yield json;
  else yield* yamlDocuments(file);
}

function withoutMark(file: StateFile): StateFile {
  const isMarked = BYTE_ORDER_MARK.every((byte, index) => file.bytes[index] === byte);
  if (!isMarked) return file;
  return { name: file.name, bytes: file.bytes.subarray(BYTE_ORDER_MARK.length) };
}
