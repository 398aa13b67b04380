import type { Cell, ResultRecord } from "./result.ts";

/** A field on one line: lists with commas between, objects as JSON. */
export function formatCell(cell: Cell): string {
  if (typeof cell !== "object") return String(cell);
  return isList(cell) ? cell.join(",") : JSON.stringify(cell);
}

/** `s1 -> address 10.0.2.1:80 weight 10`: the name, then each field; quoted where it is not one word. */
export function formatRecord(record: ResultRecord): string {
  const [first, ...fields] = Object.entries(record);
  const words = fields.flatMap(([key, cell]) => [key, quoted(formatCell(cell))]);
  return [first === undefined ? "" : formatCell(first[1]), "->", ...words].join(" ");
}

export function isList(cell: Cell): cell is readonly string[] {
  return Array.isArray(cell);
}

/** JSON is read as one word by its braces. */
function quoted(text: string): string {
  return text !== "" && (text.startsWith("{") || !/[\s"']/.test(text))
    ? text
    : JSON.stringify(text);
}
