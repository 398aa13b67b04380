import { formatCell } from "../format-cell.ts";
import type { ResultRecord } from "../result.ts";
import { visibleText } from "./visible-text.ts";

const GAP = "  ";
const NOTHING = "-";

interface Column {
  readonly title: string;
  readonly width: number;
  /** Numbers end below each other. */
  readonly isNumber: boolean;
}

/**
 * A table, a record a line; where that is wider than the terminal, a field a line. What is empty is
 * shown as `-`.
 * @param maxWidth columns of the terminal; undefined: as wide as it comes
 */
export function renderRecords(
  records: readonly ResultRecord[],
  maxWidth: number | undefined,
): readonly string[] {
  const columns = columnsOf(records);
  const width = columns.reduce((sum, column) => sum + column.width + GAP.length, -GAP.length);
  return maxWidth !== undefined && width > maxWidth
    ? renderBlocks(records)
    : renderTable(records, columns);
}

function columnsOf(records: readonly ResultRecord[]): readonly Column[] {
  const titles = new Set(records.flatMap((record) => Object.keys(record)));
  return [...titles].map((title) => ({
    title,
    width: Math.max(title.length, ...records.map((record) => cellText(record, title).length)),
    isNumber: records.every((record) => ["number", "undefined"].includes(typeof record[title])),
  }));
}

function renderTable(
  records: readonly ResultRecord[],
  columns: readonly Column[],
): readonly string[] {
  const line = (textOf: (title: string) => string): string =>
    columns
      .map(({ title, width, isNumber }) =>
        isNumber ? textOf(title).padStart(width) : textOf(title).padEnd(width),
      )
      .join(GAP)
      .trimEnd();
  return [
    line((title) => title),
    ...records.map((record) => line((title) => cellText(record, title))),
  ];
}

function renderBlocks(records: readonly ResultRecord[]): readonly string[] {
  return records.flatMap((record, index) => {
    const titles = Object.keys(record);
    const width = Math.max(...titles.map((title) => title.length));
    const lines = titles.map((title) => `${title.padEnd(width)}${GAP}${cellText(record, title)}`);
    return index === 0 ? lines : ["", ...lines];
  });
}

function cellText(record: ResultRecord, title: string): string {
  const cell = record[title];
  const text = cell === undefined ? "" : visibleText(formatCell(cell)).replace(/[\n\t]/g, " ");
  return text === "" ? NOTHING : text;
}
