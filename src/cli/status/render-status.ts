import { shortName } from "../desired/object-columns.ts";
import type { Colour, Paint } from "../text/paint.ts";
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatMs,
  formatRate,
} from "../text/quantities.ts";
import { type Column, renderTable, type TableCell } from "../text/render-table.ts";
import { healthText } from "./instance-health.ts";
import { notHonouredOf } from "./not-honoured.ts";
import { type Rate, rateOf } from "./rates.ts";
import type { Sample } from "./sample.ts";

export interface StatusView {
  readonly now: Sample;
  /** The one before, where rates are to be told. */
  readonly before?: Sample | undefined;
  /** Whether to show also what holds for this machine whatever the state is. */
  readonly all: boolean;
  readonly paint: Paint;
}

/** All that people want to know of an instance, in lines. */
export function renderStatus(view: StatusView): readonly string[] {
  const sections = [
    headLines(view),
    componentLines(view),
    listenerLines(view),
    serverLines(view),
    controllerLines(view),
    notHonouredLines(view),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .flatMap((lines, index) => (index === 0 ? lines : ["", ...lines]));
}

function headLines({ now: { status }, paint }: StatusView): readonly string[] {
  const { version, pid, node, uptimeSeconds, reasons, revision, process, journal } = status;
  const kept = journal === null ? "nothing is kept" : `journal of ${formatBytes(journal.bytes)}`;
  return [
    `${paint("bold", `portolan ${version}`)}, pid ${pid}, node ${node}, up ${formatDuration(uptimeSeconds)}: ${healthText(status, paint)}`,
    ...reasons.map((reason) => paint("red", `  ${reason}`)),
    `state of revision ${revision}, ${kept}; memory ${formatBytes(process.memoryBytes)}, CPU ${process.cpuSeconds.toFixed(1)} s`,
  ];
}

const HEALTH_COLOURS: ReadonlyMap<string, Colour> = new Map([
  ["ok", "green"],
  ["up", "green"],
  ["failed", "red"],
  ["down", "red"],
  ["starting", "yellow"],
  ["degraded", "yellow"],
  ["unknown", "yellow"],
  ["unused", "grey"],
]);

export function healthCell(health: string): TableCell {
  const colour = HEALTH_COLOURS.get(health);
  return colour === undefined ? health : { text: health, colour };
}

function componentLines({ now: { status }, paint }: StatusView): readonly string[] {
  const rows = status.components.map(({ kind, name, health, message, details }) => [
    kind,
    name,
    healthCell(health),
    [message, details].filter((words) => words !== undefined && words !== "").join("; "),
  ]);
  return table(["PART", "NAME", "HEALTH", "SAYS"].map(text), rows, paint);
}

function listenerLines({ now, before, paint }: StatusView): readonly string[] {
  const columns = [
    text("LISTENER"),
    text("ADDRESS"),
    text("MODE"),
    text("SERVICE"),
    number("OPEN"),
    number("TOTAL"),
    ...(before === undefined ? [] : [number("NEW/S")]),
    number("IN"),
    number("OUT"),
    number("FAILED"),
    text("OWNER"),
  ];
  const rate = rateOf(now, before, ({ listeners }) => listeners);
  const rows = now.status.listeners.map((listener) => [
    shortName(listener.key),
    listener.address,
    listener.mode,
    shortName(listener.service),
    openCell(listener),
    formatCount(listener.totalConnections),
    ...(before === undefined ? [] : [rateText(rate(listener.key))]),
    formatBytes(listener.bytesIn),
    formatBytes(listener.bytesOut),
    failedCell(listener.failures),
    listener.owner,
  ]);
  return table(columns, rows, paint);
}

function rateText(rate: Rate | undefined): string {
  return rate === undefined ? "-" : formatRate(rate.newConnections);
}

/** How many connections are open, where it listens. */
export function openCell({
  connections,
  problem,
}: {
  readonly connections: number;
  readonly problem?: string | undefined;
}): TableCell {
  return problem === undefined ? formatCount(connections) : { text: "closed", colour: "red" };
}

export function failedCell(failures: number): TableCell {
  return failures === 0 ? "0" : { text: formatCount(failures), colour: "yellow" };
}

function serverLines({ now: { status }, paint }: StatusView): readonly string[] {
  const columns = [
    text("GROUP"),
    text("SERVER"),
    text("ADDRESS"),
    text("HEALTH"),
    number("WEIGHT"),
    number("OPEN"),
    number("TOTAL"),
    number("FAILED"),
    number("LATENCY"),
    text("REASON"),
  ];
  const rows = status.groups.flatMap((group) =>
    group.servers.map((server) => [
      shortName(group.key),
      server.name,
      server.address,
      healthCell(server.health),
      String(server.weight),
      formatCount(server.connections),
      formatCount(server.totalConnections),
      failedCell(server.failures),
      server.meanLatencyMs === null ? "-" : formatMs(server.meanLatencyMs),
      server.reason,
    ]),
  );
  const more = status.groupsLeftOut;
  return [
    ...table(columns, rows, paint),
    ...(more === 0 ? [] : [paint("grey", `and the servers of ${more} more groups`)]),
  ];
}

function controllerLines({ now: { status }, paint }: StatusView): readonly string[] {
  const rows = status.controllers.map(({ type, address, hasSecret, connections, problem }) => [
    type,
    address,
    hasSecret ? "with a secret" : "without a secret: this machine only",
    openCell({ connections, problem }),
  ]);
  return table([...["CONTROLLER", "ADDRESS", "SECRET"].map(text), number("OPEN")], rows, paint);
}

function notHonouredLines({ now: { status }, all, paint }: StatusView): readonly string[] {
  const { lines, left } = notHonouredOf(status, all);
  const limits = left === 1 ? "1 limit holds" : `${left} limits hold`;
  const others = `${limits} on this machine whatever is asked for: --all says more`;
  if (lines.length === 0) {
    return left === 0 ? [] : [paint("grey", `All that is asked for is honoured; ${others}`)];
  }
  return [
    paint("yellow", "Not honoured of what is asked for:"),
    ...lines.map((line) => `  ${line}`),
    ...(left === 0 ? [] : [paint("grey", `  ${others}`)]),
  ];
}

function text(title: string): Column {
  return { title };
}

function number(title: string): Column {
  return { title, isNumber: true };
}

function table(
  columns: readonly Column[],
  rows: readonly (readonly TableCell[])[],
  paint: Paint,
): readonly string[] {
  return rows.length === 0 ? [] : renderTable(columns, rows, paint);
}
