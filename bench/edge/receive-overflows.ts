import type { Pair, Side } from "./pair.ts";

const SNMP = "/proc/net/snmp";
const SOCKETS = ["/proc/net/udp", "/proc/net/udp6"];
const COUNTER = "RcvbufErrors";

/**
 * Datagrams that reached a host, and that a program there did not read in time. Not those of sockets that are
 * open now: before and after a measurement these are the tunnel's own, and what it loses it did not carry.
 */
export function receiveOverflows(pair: Pair, side: Side): number {
  return overflowsIn(
    pair.exec(side, "cat", SNMP),
    SOCKETS.map((path) => pair.exec(side, "cat", path)),
  );
}

export function overflowsIn(snmp: string, sockets: readonly string[]): number {
  const [names = [], values = []] = snmp
    .split("\n")
    .filter((line) => line.startsWith("Udp:"))
    .map((line) => line.split(" "));
  const all = Number(values[names.indexOf(COUNTER)]);
  if (Number.isNaN(all)) throw new Error(`${SNMP} has no ${COUNTER} of UDP`);
  return all - sockets.flatMap(dropsOf).reduce((sum, drops) => sum + drops, 0);
}

/** The last column, of every line but the first. */
function dropsOf(table: string): readonly number[] {
  const [, ...lines] = table.trim().split("\n");
  return lines.map((line) => Number(line.trim().split(/\s+/).at(-1)));
}
