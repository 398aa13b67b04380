import type { Colour, Paint } from "./paint.ts";

/** A text, with the colour that it has on a terminal where it has one. */
export type TableCell = string | { readonly text: string; readonly colour: Colour };

export interface Column {
  readonly title: string;
  /** Numbers end below each other. */
  readonly isNumber?: boolean;
}

const GAP = "  ";

/** Lines with the cells of a column below each other; no line ends with spaces. */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly TableCell[])[],
  paint: Paint,
): readonly string[] {
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...rows.map((row) => textOf(row[index]).length)),
  );
  const head = columns.map(({ title }): TableCell => ({ text: title, colour: "grey" }));
  return [head, ...rows].map((row) =>
    columns
      .map(({ isNumber }, index) => {
        const isLast = index === columns.length - 1;
        return padded(row[index], widths[index] ?? 0, {
          isNumber: isNumber === true,
          isLast,
          paint,
        });
      })
      .join(GAP)
      .trimEnd(),
  );
}

function padded(
  cell: TableCell | undefined,
  width: number,
  how: { readonly isNumber: boolean; readonly isLast: boolean; readonly paint: Paint },
): string {
  const text = textOf(cell);
  const painted = typeof cell === "object" ? how.paint(cell.colour, text) : text;
  const space = " ".repeat(width - text.length);
  if (how.isNumber) return `${space}${painted}`;
  return how.isLast ? painted : `${painted}${space}`;
}

function textOf(cell: TableCell | undefined): string {
  return typeof cell === "object" ? cell.text : (cell ?? "");
}
