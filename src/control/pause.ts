import { setImmediate } from "node:timers/promises";

/** After this many lines others have their turn: some milliseconds of work. */
export const LINES_A_TURN = 50;

/** Lets others run every now and then: long configurations must not hold up the thread. */
export async function pauseAt(count: number): Promise<void> {
  if (count % LINES_A_TURN === LINES_A_TURN - 1) await setImmediate();
}
