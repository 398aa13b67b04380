import type { Column } from "../text/render-table.ts";

/** A column that may be left out where there is no room: those with the highest number go first. */
export interface FittedColumn extends Column {
  readonly rank: number;
  /** Whether a part of its text is better than nothing; for the last one only. */
  readonly mayBeCut?: boolean;
}

const GAP = 2;

/**
 * Which columns have room, by index and in order. The first of rank 0 stay whatever the room is.
 * @param widths of the columns, their titles included
 */
export function fitColumns(
  columns: readonly FittedColumn[],
  widths: readonly number[],
  room: number,
): readonly number[] {
  const indexes = columns.map((_, index) => index);
  const droppable = indexes
    .filter((index) => (columns[index]?.rank ?? 0) > 0)
    .sort((a, b) => (columns[b]?.rank ?? 0) - (columns[a]?.rank ?? 0) || b - a);
  const kept = new Set(indexes);
  const widthOf = (index: number): number => {
    const column = columns[index];
    return column?.mayBeCut === true ? column.title.length : (widths[index] ?? 0);
  };
  const width = (): number => [...kept].reduce((sum, index) => sum + widthOf(index) + GAP, -GAP);
  for (const index of droppable) {
    if (width() <= room) break;
    kept.delete(index);
  }
  return indexes.filter((index) => kept.has(index));
}
