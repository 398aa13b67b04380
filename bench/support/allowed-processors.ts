import { readFileSync } from "node:fs";

/** The numbers of the processors that this process may run on. */
export function allowedProcessors(): readonly number[] {
  const [, list = ""] =
    /^Cpus_allowed_list:\s*(.+)$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  return parseProcessorList(list);
}

/** cpuset(7): numbers and ranges, `0-2,5`. */
export function parseProcessorList(list: string): readonly number[] {
  return list.split(",").flatMap((part) => {
    const [first = Number.NaN, last = first] = part.split("-").map(Number.parseFloat);
    if (!(first <= last)) throw new Error(`"${part}" is no range of processors`);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}
