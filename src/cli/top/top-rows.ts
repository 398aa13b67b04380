import type { InstanceStatus, ServerStatus } from "../../daemon/instance-socket/status-protocol.ts";
import { type Rate, rateOf } from "../status/rates.ts";
import type { Sample } from "../status/sample.ts";

/** By what listeners and servers are sorted. */
export const SORT_KEYS = ["connections", "new", "bytes", "failures", "name"] as const;

export type SortKey = (typeof SORT_KEYS)[number];

/** Something that carries traffic, with how much of it there is now. */
export interface TrafficRow {
  readonly key: string;
  readonly connections: number;
  readonly failures: number;
  /** Undefined where it is not known yet. */
  readonly rate: Rate | undefined;
}

export interface ListenerRow extends TrafficRow {
  readonly address: string;
  readonly mode: string;
}

export interface ServerRow extends TrafficRow {
  readonly address: string;
  readonly health: ServerStatus["health"];
  readonly reason: string;
  /** Of what its group was given since the sample before, else ever; undefined where that was nothing. */
  readonly share: number | undefined;
  readonly meanLatencyMs: number | null;
}

export interface LoopRow {
  readonly name: string;
  /** How many channels are open in it. */
  readonly channels: number;
  /** Of all that are open. */
  readonly share: number;
}

export function listenerRows(now: Sample, before: Sample | undefined): readonly ListenerRow[] {
  const rate = rateOf(now, before, ({ listeners }) => listeners);
  return now.status.listeners.map(({ key, address, mode, connections, failures }) => ({
    key,
    address,
    mode,
    connections,
    failures,
    rate: rate(key),
  }));
}

export function serverRows(now: Sample, before: Sample | undefined): readonly ServerRow[] {
  const rate = rateOf(now, before, serversOf);
  return now.status.groups.flatMap(({ servers }) => {
    const isBusy = servers.some(({ key }) => (rate(key)?.newConnections ?? 0) > 0);
    const given = ({ key, totalConnections }: ServerStatus): number =>
      isBusy ? (rate(key)?.newConnections ?? 0) : totalConnections;
    const all = servers.reduce((sum, server) => sum + given(server), 0);
    return servers.map((server) => ({
      key: server.key,
      address: server.address,
      health: server.health,
      reason: server.reason,
      connections: server.connections,
      failures: server.failures,
      meanLatencyMs: server.meanLatencyMs,
      rate: rate(server.key),
      share: all === 0 ? undefined : given(server) / all,
    }));
  });
}

function serversOf({ groups }: InstanceStatus): readonly ServerStatus[] {
  return groups.flatMap(({ servers }) => servers);
}

export function loopRows({ status }: Sample): readonly LoopRow[] {
  const loops = status.loopGroups.flatMap((group) =>
    group.loops.map(({ name, channels }) => ({
      name: `${group.name}/${name}`,
      channels: Object.values(channels).reduce((sum, count) => sum + count, 0),
    })),
  );
  const all = loops.reduce((sum, { channels }) => sum + channels, 0);
  const byName = loops.toSorted((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
  return byName.map((loop) => ({ ...loop, share: all === 0 ? 0 : loop.channels / all }));
}

/** The busiest first; what is equal by name. */
export function sorted<R extends TrafficRow>(rows: readonly R[], by: SortKey): readonly R[] {
  return rows.toSorted((a, b) => amountOf(b, by) - amountOf(a, by) || (a.key < b.key ? -1 : 1));
}

function amountOf({ connections, failures, rate }: TrafficRow, by: SortKey): number {
  switch (by) {
    case "connections":
      return connections;
    case "new":
      return rate?.newConnections ?? 0;
    case "bytes":
      return (rate?.bytesIn ?? 0) + (rate?.bytesOut ?? 0);
    case "failures":
      return failures;
    case "name":
      return 0;
  }
}
