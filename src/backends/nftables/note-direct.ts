import type { FullState } from "../../core/sinks/fullstate.ts";
import type { DirectKeeper } from "../direct-keeper.ts";
import { chooseMethod } from "./plan/service-limits.ts";

/** Tells of services that changed; the methods that need the rules are left to them. */
export function noteDirect(
  direct: DirectKeeper,
  state: FullState,
  services: ReadonlySet<string>,
): void {
  for (const key of services) {
    const item = state.services.get(key);
    const isRandom = item !== undefined && chooseMethod(item, state.further.groups) === "random";
    direct.note(key, item, isRandom);
  }
}
