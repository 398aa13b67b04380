import { CoreError } from "../../core/errors.ts";
import type { RespReply, RespVersion, TextReply } from "../../wire/resp/encode-reply.ts";
import { formatRecord, isList } from "../format-cell.ts";
import type { Cell, Result, ResultRecord } from "../result.ts";

export const OK: RespReply = { kind: "simple", text: "OK" };

/** What a result is in RESP; docs/controllers.md has the table. */
export function renderReply(result: Result, version: RespVersion): RespReply {
  switch (result.kind) {
    case "done":
      return result.note === "" ? OK : { kind: "simple", text: `OK ${result.note}` };
    case "names":
      return { kind: "array", items: result.names.map(bulk) };
    case "number":
      return { kind: "number", value: result.value };
    case "text":
      return { kind: "verbatim", text: result.text };
    case "records":
      return {
        kind: "array",
        items: result.records.map((record) =>
          version === 3 ? mapOf(record) : bulk(formatRecord(record)),
        ),
      };
  }
}

/** All that is wrong, on one line. What is no `CoreError` is a defect, and tells nothing of itself. */
export function renderError(error: unknown): RespReply {
  if (error instanceof CoreError) return refusal(error.code, error.message);
  return refusal("ERR_INSTANCE", "the command failed by a defect; the log says where");
}

export function refusal(code: string, message: string): RespReply {
  return { kind: "error", word: "ERR", message: `${code} ${message}` };
}

export function bulk(text: string): TextReply {
  return { kind: "bulk", text };
}

function mapOf(record: ResultRecord): TextReply {
  const entries = Object.entries(record).map(([key, cell]) => [key, cellOf(cell)] as const);
  return { kind: "map", entries };
}

function cellOf(cell: Cell): TextReply {
  switch (typeof cell) {
    case "string":
      return bulk(cell);
    case "number":
      return { kind: "number", value: cell };
    case "boolean":
      return { kind: "boolean", value: cell };
    case "object":
      return isList(cell)
        ? { kind: "array", items: cell.map(bulk) }
        : { kind: "map", entries: Object.entries(cell).map(([key, text]) => [key, bulk(text)]) };
  }
}
