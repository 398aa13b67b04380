import type { ChangedKeys, FullState } from "../../core/sinks/fullstate.ts";
import type { DirectKeeper } from "../direct-keeper.ts";
import { servicesTouched } from "./plan/planner.ts";
import { chooseMethod } from "./plan/service-limits.ts";

/** Tells of the services that changed; the methods that need the rules are left to them. */
export function noteDirect(direct: DirectKeeper, state: FullState, changed: ChangedKeys): void {
  for (const key of new Set(servicesTouched(state, changed))) {
    const item = state.services.get(key);
    const isRandom = item !== undefined && chooseMethod(item, state.further.groups) === "random";
    direct.note(key, item, isRandom);
  }
}
