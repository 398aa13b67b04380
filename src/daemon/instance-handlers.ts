import process from "node:process";
import type { InnerPlane } from "../backends/backend.ts";
import { CoreError } from "../core/errors.ts";
import type { InstanceHandlers } from "./instance-socket/answer.ts";
import type { ProfileParams, ProfileResult } from "./instance-socket/protocol.ts";
import { completeLine, runLine } from "./requests/command-requests.ts";
import { followEvents } from "./requests/follow-events.ts";
import { readStatus } from "./requests/read-status.ts";
import { readSupport, type SupportParts } from "./requests/read-support.ts";
import { apply, get, remove, watch } from "./requests/state-requests.ts";

export interface HandlerParts extends SupportParts {
  /** Offers the listening sockets; where, or undefined where that can not be done. */
  readonly offer: () => Promise<string | undefined>;
}

const MS_PER_SECOND = 1000;

/** What an instance answers on its socket. */
export function createHandlers(parts: HandlerParts): InstanceHandlers {
  const { live, ring } = parts;
  return {
    status: () => readStatus(parts),
    profile: (params) => profile(parts.planes, params),
    "take-over": async () => {
      const path = await parts.offer();
      if (path !== undefined) return { pid: process.pid, path };
      throw new CoreError("ERR_NOT_POSSIBLE_HERE", "this instance can not hand its sockets over");
    },
    command: (params) => runLine(live, params),
    complete: (params) => completeLine(live, params),
    apply: (params) => apply(live, params),
    delete: (params) => remove(live, params),
    get: (params) => get(live, params),
    support: () => readSupport(parts),
    events: (_, signal) => followEvents(live, ring, signal),
    watch: (params, signal) => watch(live, params, signal),
  };
}

async function profile(
  planes: ReadonlyMap<string, InnerPlane>,
  { loop, seconds }: ProfileParams,
): Promise<ProfileResult> {
  const known: string[] = [];
  for (const plane of planes.values()) {
    const names = (await plane.loopGroups()).flatMap(({ loops }) => loops.map(({ name }) => name));
    if (names.includes(loop))
      return { profile: await plane.profile(loop, seconds * MS_PER_SECOND) };
    known.push(...names);
  }
  const there =
    known.length === 0 ? "this instance has none" : `there are ${known.sort().join(", ")}`;
  throw new CoreError("ERR_NOT_FOUND", `event loop "${loop}" is not there; ${there}`);
}
