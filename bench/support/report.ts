import type { Interval } from "./median-interval.ts";

/** One line of a benchmark's result. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The most that it may be, or the least; undefined where it is only told. */
  readonly limit?: number | undefined;
  /** Which of the two; the most where it is missing. */
  readonly bound?: "most" | "least";
  /** Whether what it was measured by was ended before its time: the true value is higher. */
  readonly isCut?: boolean;
  /** Where the true value is, as far as can be told. */
  readonly interval?: Interval;
}

const MARGIN = "  ";

export function isMet({ value, limit, bound }: Figure): boolean {
  if (limit === undefined) return true;
  return bound === "least" ? value >= limit : value <= limit;
}

/** The figures beside their targets, for people. */
export function renderTable(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [
    figure.name,
    showMeasured(figure),
    figure.limit === undefined
      ? ""
      : `at ${figure.bound ?? "most"} ${show(figure.limit)} ${figure.unit}`,
    judge(figure),
  ]);
  const table = [["figure", "measured", "target", ""], ...rows];
  const widths = [0, 1, 2].map((column) =>
    Math.max(...table.map((row) => (row[column] ?? "").length)),
  );
  return table
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join(MARGIN)
        .trimEnd(),
    )
    .join("\n");
}

function showMeasured({ value, unit, isCut, interval }: Figure): string {
  const measured = `${isCut === true ? ">= " : ""}${show(value)} ${unit}`;
  return interval === undefined ? measured : `${measured} (${interval.map(show).join(" to ")})`;
}

function judge(figure: Figure): string {
  if (figure.limit === undefined) return "";
  if (isMet(figure)) return "met";
  return figure.isCut === true && figure.bound === "least" ? "NOT SEEN" : "NOT MET";
}

export function renderJson(figures: readonly Figure[]): string {
  return JSON.stringify(
    figures.map((figure) => ({ ...figure, met: isMet(figure) })),
    undefined,
    2,
  );
}

/** Three digits that mean something. */
function show(value: number): string {
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}
