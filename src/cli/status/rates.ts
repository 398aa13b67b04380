import type {
  InstanceStatus,
  TrafficStatus,
} from "../../daemon/instance-socket/status-protocol.ts";
import type { Sample } from "./sample.ts";

/** What happens in a second. */
export interface Rate {
  readonly newConnections: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly failures: number;
}

type Counted = TrafficStatus & { readonly key: string };

const MS_PER_SECOND = 1000;

/**
 * How much happened a second between two samples, by key. Undefined where that can not be told: the
 * thing is new, or another process has begun to count.
 */
export function rateOf(
  now: Sample,
  before: Sample | undefined,
  counted: (status: InstanceStatus) => readonly Counted[],
): (key: string) => Rate | undefined {
  const isSame = before !== undefined && before.status.pid === now.status.pid;
  const seconds = before === undefined ? 0 : (now.atMs - before.atMs) / MS_PER_SECOND;
  if (!isSame || seconds <= 0) return () => undefined;
  const old = new Map(counted(before.status).map((one) => [one.key, one]));
  const fresh = new Map(counted(now.status).map((one) => [one.key, one]));
  return (key) => {
    const [was, is] = [old.get(key), fresh.get(key)];
    if (was === undefined || is === undefined || is.totalConnections < was.totalConnections) {
      return undefined;
    }
    return {
      newConnections: (is.totalConnections - was.totalConnections) / seconds,
      bytesIn: Math.max(0, is.bytesIn - was.bytesIn) / seconds,
      bytesOut: Math.max(0, is.bytesOut - was.bytesOut) / seconds,
      failures: Math.max(0, is.failures - was.failures) / seconds,
    };
  };
}
