import { CoreError, messageOf } from "../errors.ts";
import type { SetName } from "../view/ops.ts";
import type { Sink, WatchRequest } from "./sink.ts";

export interface NamedSink {
  readonly name: string;
  readonly sink: Sink;
}

/** Whether a sync goes to one sink after the other, in the order given, or to all at once. */
export type PipeMode = "sequence" | "parallel";

interface Member extends NamedSink {
  /** Whether it was sent anything since its last good sync. */
  dirty: boolean;
  /** What it threw while operations were sent; only a new stream can mend it. */
  broken: unknown;
}

/**
 * Several sinks on one stream. One that fails does not stop the others: they are sent everything, and
 * the sync then rejects with an error that names the ones that failed. When the sync is repeated,
 * those that have nothing new to apply are left in peace.
 */
export function createPipe(sinks: readonly NamedSink[], mode: PipeMode): Sink {
  const members: Member[] = sinks.map((named) => ({ ...named, dirty: true, broken: undefined }));

  const tell = (act: (sink: Sink) => unknown): void => {
    for (const member of members) {
      if (member.broken !== undefined) continue;
      member.dirty = true;
      try {
        act(member.sink);
      } catch (error) {
        member.broken = error ?? new Error("thrown without a reason");
      }
    }
  };

  const syncOne = async (member: Member): Promise<void> => {
    if (member.broken !== undefined) throw member.broken;
    await member.sink.send({ op: "sync" });
    member.dirty = false;
  };

  return {
    setup: async () => {
      throwFailures("setup", members, await settle(members, "sequence", (m) => m.sink.setup()));
    },
    waitRequest: async () =>
      joinRequests(await Promise.all(members.map((member) => member.sink.waitRequest()))),
    reset: () => {
      for (const member of members) member.broken = undefined;
      tell((sink) => sink.reset());
    },
    send: (op) => {
      if (op.op !== "sync") return tell((sink) => sink.send(op));
      const dirty = members.filter((member) => member.dirty);
      const wanted = dirty.length > 0 ? dirty : members;
      return settle(wanted, mode, syncOne).then((results) =>
        throwFailures("sync", wanted, results),
      );
    },
  };
}

async function settle(
  members: readonly Member[],
  mode: PipeMode,
  act: (member: Member) => void | Promise<void>,
): Promise<readonly PromiseSettledResult<void>[]> {
  const start = async (member: Member): Promise<void> => act(member);
  if (mode === "parallel") return Promise.allSettled(members.map(start));
  const results: PromiseSettledResult<void>[] = [];
  for (const member of members) results.push(...(await Promise.allSettled([start(member)])));
  return results;
}

function throwFailures(
  what: string,
  members: readonly Member[],
  results: readonly PromiseSettledResult<void>[],
): void {
  const causes: unknown[] = [];
  const lines: string[] = [];
  results.forEach((result, index) => {
    if (result.status === "fulfilled") return;
    causes.push(result.reason);
    lines.push(`${members[index]?.name}: ${messageOf(result.reason)}`);
  });
  if (causes.length === 0) return;
  const broken = members.some((member) => member.broken !== undefined);
  throw new CoreError(
    broken ? "ERR_SINK_BROKEN" : "ERR_SYNC_FAILED",
    `${what} failed in ${causes.length} of ${members.length} sinks: ${lines.join("; ")}`,
    { cause: causes.length === 1 ? causes[0] : new AggregateError(causes) },
  );
}

function joinRequests(requests: readonly WatchRequest[]): WatchRequest {
  const sets = new Set<SetName>(requests.flatMap((request) => request.sets));
  const names = [...new Set(requests.map((request) => request.nodeName))];
  const [nodeName, ...others] = names;
  if (nodeName === undefined || others.length > 0) {
    throw new CoreError(
      "ERR_USAGE",
      `sinks of one pipe ask for the nodes ${names.map((name) => `"${name}"`).join(", ")}; expected one node`,
    );
  }
  return { nodeName, sets: [...sets] };
}
