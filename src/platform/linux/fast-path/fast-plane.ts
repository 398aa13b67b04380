import type { ProgramsAt } from "../links/attached-links.ts";
import type { PlainLink } from "../links/ethernet-links.ts";
import type { FastFlow, TakenFlow } from "./fast-flow.ts";

/** Directions of connections; more than this the maps do not hold. */
export const MOST_TAKEN = 65_536;

/**
 * Programs of the kernel that take packets of connections past the rules, once these have decided about them.
 * All of it ends when it is closed, and when the process ends. Calls throw CoreError ERR_SYSTEM_CALL.
 */
export interface FastPlane {
  /** Has the programs see what comes and goes by a link. @returns how to end that */
  attach(link: PlainLink): () => void;
  programsAt(link: PlainLink): ProgramsAt;
  /** Connections that could take the path: those that were proposed since the last time. */
  takeSeen(): readonly FastFlow[];
  taken(): readonly TakenFlow[];
  isTaken(flow: Pick<FastFlow, "family" | "key">): boolean;
  /** It takes the path as soon as the rules have agreed to another packet of it. */
  admit(flow: FastFlow): void;
  /** Those that are absent are no error. */
  remove(flows: readonly FastFlow[]): void;
  /** How many packets took the path. */
  passed(): number;
  close(): void;
}
