import type { FullState } from "../../core/sinks/fullstate.ts";
import type { DirectLookup } from "../direct-keeper.ts";
import { chooseMethod } from "./plan/service-limits.ts";

/** Services by key; the methods that need the rules are left to them. */
export function directSubjects(state: FullState): DirectLookup {
  return (key) => {
    const item = state.services.get(key);
    return item && { item, isRandom: chooseMethod(item, state.further.groups) === "random" };
  };
}
