import { BLANK, COLON, CR, isOf, LF, skip, TEXT, TOKEN } from "./characters.ts";
import type { FieldTable } from "./field-table.ts";
import { type HttpProblem, PROBLEMS } from "./http-problem.ts";

const LINE_END_BYTES = 2;

/**
 * Reads the field lines of a complete head into the table, which says where they end: before the
 * empty line. Nothing is forgiven that two programs could read in two ways.
 */
export function parseFields(table: FieldTable, from: number): HttpProblem | undefined {
  let at = from;
  while (at < table.end) {
    const next = parseFieldLine(table, at);
    if (typeof next !== "number") return next;
    at = next;
  }
  return undefined;
}

/** Returns where the next line begins. */
function parseFieldLine(table: FieldTable, start: number): number | HttpProblem {
  const { bytes } = table;
  const nameEnd = skip(bytes, start, TOKEN);
  if (nameEnd === start && isOf(bytes[start], BLANK)) return PROBLEMS.folded;
  if (nameEnd === start || bytes[nameEnd] !== COLON) return PROBLEMS.fieldName;
  const valueStart = skip(bytes, nameEnd + 1, BLANK);
  const lineEnd = skip(bytes, valueStart, TEXT);
  if (bytes[lineEnd] !== CR || bytes[lineEnd + 1] !== LF) return PROBLEMS.fieldValue;
  let valueEnd = lineEnd;
  while (valueEnd > valueStart && isOf(bytes[valueEnd - 1], BLANK)) valueEnd -= 1;
  const hasRoom = table.add(start, nameEnd, valueStart, valueEnd);
  return hasRoom ? lineEnd + LINE_END_BYTES : PROBLEMS.tooManyFields;
}
