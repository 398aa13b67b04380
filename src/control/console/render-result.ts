import { CoreError, messageOf } from "../../core/errors.ts";
import type { Result } from "../result.ts";
import { renderRecords } from "./render-records.ts";
import { visibleText } from "./visible-text.ts";

export interface RenderOptions {
  /** One JSON value on one line. */
  readonly json: boolean;
  /** Columns of the terminal; undefined where it is none. */
  readonly width: number | undefined;
  readonly hasColours: boolean;
}

const RED = "\u001b[31m";
const DEFAULT_COLOUR = "\u001b[39m";

/** What is printed for a result, with the end of the last line; nothing where it is empty. */
export function renderResult(result: Result, options: RenderOptions): string {
  if (options.json) return `${JSON.stringify(result)}\n`;
  return linesOf(result, options.width)
    .map((line) => `${line}\n`)
    .join("");
}

/** What is printed for a command that failed. */
export function renderFailure(error: unknown, options: RenderOptions): string {
  const { code, message, problems } = partsOf(error);
  if (options.json) return `${JSON.stringify({ kind: "error", code, message, problems })}\n`;
  const text = visibleText(`${code}: ${message}`);
  return `${options.hasColours ? `${RED}${text}${DEFAULT_COLOUR}` : text}\n`;
}

function linesOf(result: Result, width: number | undefined): readonly string[] {
  switch (result.kind) {
    case "done":
      return [result.note === "" ? "(done)" : `(done) ${visibleText(result.note)}`];
    case "names":
      return result.names.length === 0 ? nothing(width) : result.names.map(visibleText);
    case "records":
      return result.records.length === 0 ? nothing(width) : renderRecords(result.records, width);
    case "number":
      return [String(result.value)];
    case "text":
      return [visibleText(result.text).trimEnd()];
  }
}

/** People want to see that there is none; programs count lines. */
function nothing(width: number | undefined): readonly string[] {
  return width === undefined ? [] : ["(none)"];
}

function partsOf(error: unknown): {
  readonly code: string;
  readonly message: string;
  readonly problems: CoreError["problems"];
} {
  if (error instanceof CoreError) return error;
  const message = messageOf(error);
  return { code: "ERR_INSTANCE", message, problems: [] };
}
