import { readFileSync } from "node:fs";

/** USER_HZ: what proc(5) counts in. */
const TICKS_A_SECOND = 100;
/** Behind user, nice, system, idle, iowait, irq and softirq. */
const STEAL_AT = 7;

/** Seconds so far in which others of the same machine had a processor of this virtual one. */
export function stolenSeconds(processor: number): number {
  return parseStolen(readFileSync("/proc/stat", "utf8"), processor);
}

export function parseStolen(text: string, processor: number): number {
  const [, line] = new RegExp(`^cpu${processor} (.+)$`, "m").exec(text) ?? [];
  if (line === undefined) throw new Error(`/proc/stat has no processor ${processor}`);
  return Number(line.split(" ")[STEAL_AT] ?? 0) / TICKS_A_SECOND;
}
