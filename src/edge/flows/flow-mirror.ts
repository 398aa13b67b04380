import type { FlowPlace, FlowPlan } from "./flow.ts";

/** Who passes on packets of flows beside this program, and so has to know all of them. */
export interface FlowMirror<T> {
  /** `number`: of its place, which means that place as long as flows go there. */
  added(plan: FlowPlan, number: number, place: FlowPlace<T>): void;
  /** Packets may pass there: both ends have been heard, and none of them ends it. */
  setOpen(plan: FlowPlan, number: number, isOpen: boolean): void;
  removed(plan: FlowPlan): void;
  /** When the last packet of it passed there, by the clock of the table; before all time where none did. */
  lastUsedMs(plan: FlowPlan): number;
}
