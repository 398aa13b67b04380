import type { PacketEnds } from "../../wire/ip/translate.ts";
import type { LiveInstance } from "../table/live-instance.ts";

/** What is known of a flow, which says how long it is kept without packets. */
export type FlowState = "asked" | "closing" | "echo" | "datagrams" | "connection";

/** Where a table is full, the longest unused of the first of these that has any makes room. */
export const FLOW_STATES: readonly FlowState[] = [
  "asked",
  "closing",
  "echo",
  "datagrams",
  "connection",
];

/** How the packets of a flow look before and after, to the server and back. */
export interface FlowPlan {
  readonly protocol: number;
  readonly asked: PacketEnds;
  readonly sent: PacketEnds;
  readonly answered: PacketEnds;
  readonly returned: PacketEnds;
}

/** Where the packets of a flow go that are sent to its server. */
export interface FlowPlace<T> {
  readonly instance: LiveInstance;
  readonly target: T;
}

/** Packets between two ends that go to one instance: what a table knows of them, as it was when asked. */
export interface Flow<T> extends FlowPlace<T> {
  readonly plan: FlowPlan;
  readonly state: FlowState;
}

/**
 * One direction of a flow in a table, as a number: even to the server, and the next odd one back. It means
 * something until the flow is removed.
 */
export type FlowEnd = number;

/** No direction of any flow. */
export const NO_FLOW: FlowEnd = -1;

export function isBack(end: FlowEnd): boolean {
  return (end & 1) !== 0;
}

/** The direction to the server of the flow that has this one. */
export function forwardOf(end: FlowEnd): FlowEnd {
  return end & ~1;
}

/** The direction back of the flow that has this one. */
export function backOf(end: FlowEnd): FlowEnd {
  return end | 1;
}
