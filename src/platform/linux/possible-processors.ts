import { readFileSync } from "node:fs";

/** `0-3`, or `0,2-5`: the last number says how many values a map by processor has. */
const POSSIBLE_PROCESSORS = "/sys/devices/system/cpu/possible";

export function possibleProcessors(): number {
  const last = /(\d+)\s*$/.exec(readFileSync(POSSIBLE_PROCESSORS, "utf8"))?.[1];
  return Number(last) + 1;
}
