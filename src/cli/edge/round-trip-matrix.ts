import type { RoundTripReport } from "../../daemon/edge/ask-node.ts";
import type { Paint } from "../text/paint.ts";
import { formatMs } from "../text/quantities.ts";
import { renderTable } from "../text/render-table.ts";

/** More do not fit beside each other. */
const MAX_NODES = 12;

/** A line for each node that measured, a column for each that was measured. */
export function roundTripMatrix(
  roundTrips: readonly RoundTripReport[],
  paint: Paint,
): readonly string[] {
  const names = [...new Set(roundTrips.flatMap(({ from, to }) => [from, to]))].sort();
  const shown = names.slice(0, MAX_NODES);
  const known = new Map(
    roundTrips.map(({ from, to, roundTripMs }) => [`${from} ${to}`, roundTripMs]),
  );
  const rows = shown
    .filter((from) => roundTrips.some((row) => row.from === from))
    .map((from) => [
      from,
      ...shown.map((to) => {
        if (from === to) return "";
        const ms = known.get(`${from} ${to}`);
        return ms === undefined ? "-" : formatMs(ms);
      }),
    ]);
  const columns = ["ROUND TRIP FROM", ...shown.map((name) => `TO ${name}`)];
  const table = renderTable(
    columns.map((title, index) => ({ title, isNumber: index > 0 })),
    rows,
    paint,
  );
  const rest = names.length - shown.length;
  return rest > 0 ? [...table, `and ${rest} more nodes; --json has them`] : table;
}
