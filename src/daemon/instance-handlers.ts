import process from "node:process";
import type { InnerPlane } from "../backends/backend.ts";
import { CoreError } from "../core/errors.ts";
import type { StatusBoard } from "../core/status/status-board.ts";
import type { InstanceConfig } from "./config.ts";
import type { InstanceStatus, ProfileParams, ProfileResult } from "./instance-socket/protocol.ts";
import type { InstanceHandlers } from "./instance-socket/server.ts";

export interface HandlerParts {
  readonly config: InstanceConfig;
  readonly version: string;
  readonly board: StatusBoard;
  /** By the names of their backends. */
  readonly planes: ReadonlyMap<string, InnerPlane>;
  /** Offers the listening sockets; where, or undefined where that can not be done. */
  readonly offer: () => Promise<string | undefined>;
}

const MS_PER_SECOND = 1000;

/** What an instance answers on its socket. */
export function createHandlers(parts: HandlerParts): InstanceHandlers {
  return {
    status: () => readStatus(parts),
    profile: (params) => profile(parts, params),
    "take-over": async () => {
      const path = await parts.offer();
      if (path !== undefined) return { pid: process.pid, path };
      throw new CoreError("ERR_NOT_POSSIBLE_HERE", "this instance can not hand its sockets over");
    },
  };
}

async function readStatus(parts: HandlerParts): Promise<InstanceStatus> {
  const { config, version, board } = parts;
  const { ready, reasons } = board.health();
  return {
    version,
    pid: process.pid,
    node: config.node,
    ready,
    reasons,
    components: board.components().map(({ kind, name, health, message, notHonoured }) => ({
      kind,
      name,
      health,
      message,
      notHonoured,
    })),
    loopGroups: await readLoopGroups(parts),
  };
}

async function readLoopGroups({ planes }: HandlerParts): Promise<InstanceStatus["loopGroups"]> {
  const ofEach = [...planes].map(async ([backend, plane]) =>
    (await plane.loopGroups()).map((group) => ({ backend, ...group })),
  );
  return (await Promise.all(ofEach)).flat();
}

async function profile(
  { planes }: HandlerParts,
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
