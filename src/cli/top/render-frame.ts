import { shortName } from "../desired/object-columns.ts";
import { healthText } from "../status/instance-health.ts";
import { notHonouredOf } from "../status/not-honoured.ts";
import { failedCell, healthCell, openCell } from "../status/render-status.ts";
import type { Sample } from "../status/sample.ts";
import type { Paint } from "../text/paint.ts";
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatMs,
  formatRate,
} from "../text/quantities.ts";
import { renderTable, type TableCell } from "../text/render-table.ts";
import { cutLine } from "./cut-line.ts";
import { type FittedColumn, fitColumns } from "./fit-columns.ts";
import {
  type ListenerRow,
  type LoopRow,
  listenerRows,
  loopRows,
  type ServerRow,
  type SortKey,
  serverRows,
  sorted,
  type TrafficRow,
} from "./top-rows.ts";

export interface FrameView {
  readonly now: Sample;
  readonly before: Sample | undefined;
  readonly sort: SortKey;
  readonly columns: number;
  /** Undefined: as many as it takes. */
  readonly rows: number | undefined;
  readonly paint: Paint;
  /** Whether keys are read: then it says which. */
  readonly isLive: boolean;
}

const UNKNOWN = "-";
const MS_PER_SECOND = 1000;
const PERCENT = 100;
/** Of each kind of trouble: the tables need the room. */
const MAX_TOLD = 2;

/** What the screen shows: no line longer than its columns, no more lines than its rows. */
export function renderFrame(view: FrameView): readonly string[] {
  const { now, before, sort, isLive, paint } = view;
  const head = headLines(view);
  const foot = isLive ? ["", paint("grey", footText(sort))] : [];
  const sections: readonly Section[] = [
    listenerSection(sorted(listenerRows(now, before), sort)),
    serverSection(sorted(serverRows(now, before), sort)),
    loopSection(loopRows(now, before)),
  ].filter(({ cells }) => cells.length > 0);
  const room = view.rows === undefined ? undefined : view.rows - head.length - foot.length;
  const heights = shareRows(sections, room);
  const body = sections.flatMap((section, index) =>
    sectionLines(section, heights[index] ?? 0, view),
  );
  const lines = [...head, ...body, ...foot].map((line) => cutLine(line, view.columns));
  return view.rows === undefined ? lines : lines.slice(0, view.rows);
}

function footText(sort: SortKey): string {
  return `q ends; sorted by ${sort}: c connections, n new, b bytes, f failures, a name`;
}

function headLines({ now, before, paint }: FrameView): readonly string[] {
  const { version, pid, node, uptimeSeconds, reasons, process } = now.status;
  const cpu = cpuUse(now, before);
  const use = cpu === undefined ? UNKNOWN : `${Math.round(cpu * PERCENT)} %`;
  return [
    `${paint("bold", `portolan ${version}`)}  ${healthText(now.status, paint)}  CPU ${use}  memory ${formatBytes(process.memoryBytes)}  up ${formatDuration(uptimeSeconds)}  node ${node}  pid ${pid}`,
    ...reasons.slice(0, MAX_TOLD).map((reason) => paint("red", `  ${reason}`)),
    ...notHonouredLines(now, paint),
  ];
}

/** The first few, which may be cut: `status` has all of them. */
function notHonouredLines({ status }: Sample, paint: Paint): readonly string[] {
  const { lines } = notHonouredOf(status, false);
  if (lines.length === 0) return [];
  const where = lines.length > MAX_TOLD ? " (portolan status shows all)" : "";
  return [
    paint("yellow", `not honoured of what is asked for: ${lines.length}${where}`),
    ...lines.slice(0, MAX_TOLD).map((line) => `  ${line}`),
  ];
}

/** Of one core. */
function cpuUse(now: Sample, before: Sample | undefined): number | undefined {
  if (before === undefined || before.status.pid !== now.status.pid) return undefined;
  const seconds = (now.atMs - before.atMs) / MS_PER_SECOND;
  const spent = now.status.process.cpuSeconds - before.status.process.cpuSeconds;
  return seconds <= 0 ? undefined : Math.max(0, spent) / seconds;
}

interface Section {
  readonly columns: readonly FittedColumn[];
  readonly cells: readonly (readonly TableCell[])[];
}

const text = (title: string, rank: number): FittedColumn => ({ title, rank });
const number = (title: string, rank: number): FittedColumn => ({ title, rank, isNumber: true });

const TRAFFIC_COLUMNS: readonly FittedColumn[] = [
  number("OPEN", 0),
  number("NEW/S", 1),
  number("IN/S", 3),
  number("OUT/S", 3),
  number("FAILED", 2),
];

function trafficCells(row: TrafficRow | ListenerRow): readonly TableCell[] {
  const { rate, failures } = row;
  return [
    openCell(row),
    rate === undefined ? UNKNOWN : formatRate(rate.newConnections),
    rate === undefined ? UNKNOWN : formatBytes(rate.bytesIn),
    rate === undefined ? UNKNOWN : formatBytes(rate.bytesOut),
    failedCell(failures),
  ];
}

function listenerSection(rows: readonly ListenerRow[]): Section {
  return {
    columns: [text("LISTENER", 0), text("ADDRESS", 4), text("MODE", 5), ...TRAFFIC_COLUMNS],
    cells: rows.map((row) => [shortName(row.key), row.address, row.mode, ...trafficCells(row)]),
  };
}

function serverSection(rows: readonly ServerRow[]): Section {
  return {
    columns: [
      text("SERVER", 0),
      text("ADDRESS", 5),
      text("HEALTH", 0),
      number("SHARE", 2),
      number("LATENCY", 4),
      ...TRAFFIC_COLUMNS,
      { title: "REASON", rank: 6, mayBeCut: true },
    ],
    cells: rows.map((row) => [
      shortName(row.key),
      row.address,
      healthCell(row.health),
      row.share === undefined ? UNKNOWN : `${Math.round(row.share * PERCENT)} %`,
      row.meanLatencyMs === null ? UNKNOWN : formatMs(row.meanLatencyMs),
      ...trafficCells(row),
      row.reason,
    ]),
  };
}

const BAR_CELLS = 20;

/** How busy loops are; where the system does not say, how the channels are shared out. */
function loopSection(rows: readonly LoopRow[]): Section {
  const bar = (share: number): string => "#".repeat(Math.round(Math.min(1, share) * BAR_CELLS));
  if (rows.every(({ cpu }) => cpu === undefined)) {
    return {
      columns: [text("LOOP", 0), number("CHANNELS", 0), text("SHARE", 1)],
      cells: rows.map(({ name, channels, share }) => [name, formatCount(channels), bar(share)]),
    };
  }
  return {
    columns: [text("LOOP", 0), number("CHANNELS", 0), number("CPU", 0), text("", 1)],
    cells: rows.map(({ name, channels, cpu }) => [
      name,
      formatCount(channels),
      cpu === undefined ? UNKNOWN : `${Math.round(cpu * PERCENT)} %`,
      bar(cpu ?? 0),
    ]),
  };
}

/** An empty line, the titles, and at least one row; then what is left in turns. */
function shareRows(sections: readonly Section[], room: number | undefined): readonly number[] {
  const wanted = sections.map(({ cells }) => cells.length);
  if (room === undefined) return wanted;
  const heights = wanted.map(() => 0);
  let left = room - 2 * sections.length;
  for (;;) {
    const growing = heights.findIndex(
      (height, index) =>
        height < (wanted[index] ?? 0) &&
        heights.every((other, at) => other >= height || other >= (wanted[at] ?? 0)),
    );
    if (growing < 0 || left <= 0) return heights;
    heights[growing] = (heights[growing] ?? 0) + 1;
    left--;
  }
}

function sectionLines(
  { columns, cells }: Section,
  height: number,
  { columns: room, paint }: FrameView,
): readonly string[] {
  if (height === 0) return [];
  const isCut = height < cells.length;
  const shown = cells.slice(0, isCut ? height - 1 : height);
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...shown.map((row) => lengthOf(row[index]))),
  );
  const kept = fitColumns(columns, widths, room);
  const fitted = shown.map((row) => kept.map((index) => row[index] ?? ""));
  const titles = kept.flatMap((index) => columns[index] ?? []);
  const more = isCut ? [paint("grey", `and ${cells.length - shown.length} more`)] : [];
  return ["", ...renderTable(titles, fitted, paint), ...more];
}

function lengthOf(cell: TableCell | undefined): number {
  return typeof cell === "object" ? cell.text.length : (cell?.length ?? 0);
}
