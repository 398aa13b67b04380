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
  /** Why it is not open. */
  readonly problem?: string | undefined;
}

export interface ServerRow extends TrafficRow {
  readonly address: string;
  readonly health: ServerStatus["health"];
  readonly reason: string;
  /** Of what its group was given since the sample before, else ever; undefined where that was nothing. */
  readonly share: number | undefined;
  readonly meanLatencyMs: number | null;
}

const MS_PER_SECOND = 1000;

export interface LoopRow {
  readonly name: string;
  /** How many channels are open in it. */
  readonly channels: number;
  /** Of all that are open. */
  readonly share: number;
  /** Of one core, since the sample before; undefined where that is not known. */
  readonly cpu: number | undefined;
}

export function listenerRows(now: Sample, before: Sample | undefined): readonly ListenerRow[] {
  const rate = rateOf(now, before, ({ listeners }) => listeners);
  return now.status.listeners.map(({ key, address, mode, problem, connections, failures }) => ({
    key,
    address,
    mode,
    problem,
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

export function loopRows(now: Sample, before: Sample | undefined): readonly LoopRow[] {
  const earlier = before?.status.pid === now.status.pid ? before : undefined;
  const cpuBefore = new Map(
    earlier && loopsOf(earlier).map(({ name, cpuSeconds }) => [name, cpuSeconds]),
  );
  const seconds = earlier === undefined ? 0 : (now.atMs - earlier.atMs) / MS_PER_SECOND;
  const loops = loopsOf(now);
  const all = loops.reduce((sum, { channels }) => sum + channels, 0);
  const byName = loops.toSorted((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
  return byName.map(({ name, channels, cpuSeconds }) => ({
    name,
    channels,
    share: all === 0 ? 0 : channels / all,
    cpu: shareOfCpu(cpuSeconds, cpuBefore.get(name), seconds),
  }));
}

function loopsOf({ status }: Sample): readonly {
  readonly name: string;
  readonly channels: number;
  readonly cpuSeconds: number | undefined;
}[] {
  return status.loopGroups.flatMap((group) =>
    group.loops.map(({ name, channels, cpuSeconds }) => ({
      name: `${group.name}/${name}`,
      channels: Object.values(channels).reduce((sum, count) => sum + count, 0),
      cpuSeconds,
    })),
  );
}

/** A loop that began anew under the same name has had less than before. */
function shareOfCpu(
  now: number | undefined,
  before: number | undefined,
  seconds: number,
): number | undefined {
  if (now === undefined || before === undefined || seconds <= 0 || now < before) return undefined;
  return (now - before) / seconds;
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
