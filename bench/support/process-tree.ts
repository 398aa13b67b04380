import { readdirSync, readFileSync } from "node:fs";

/** proc(5): times are in ticks of USER_HZ, which is 100 on every Linux that Node runs on. */
const TICKS_A_SECOND = 100;
const BYTES_A_KILOBYTE = 1024;

/** CPU time that a process and its children have used, all their threads included. */
export function cpuSecondsOf(pid: number): number {
  const ticks = treeOf(pid).reduce((sum, { userTicks, systemTicks }) => {
    return sum + userTicks + systemTicks;
  }, 0);
  return ticks / TICKS_A_SECOND;
}

/** Resident memory of a process and its children; what they share counts for each. */
export function residentBytesOf(pid: number): number {
  return treeOf(pid).reduce((sum, { id }) => {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(read(id, "status") ?? "") ?? [];
    return sum + Number(kilobytes ?? 0) * BYTES_A_KILOBYTE;
  }, 0);
}

interface ProcessStat {
  readonly id: number;
  readonly parent: number;
  readonly userTicks: number;
  readonly systemTicks: number;
}

function treeOf(pid: number): readonly ProcessStat[] {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => statOf(Number(name)) ?? []);
  const tree = all.filter(({ id }) => id === pid);
  for (const member of tree) tree.push(...all.filter(({ parent }) => parent === member.id));
  return tree;
}

/** The name of a program stands in parentheses and may hold anything: what counts follows the last one. */
function statOf(id: number): ProcessStat | undefined {
  const text = read(id, "stat");
  if (text === undefined) return undefined;
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [, parent] = fields;
  const [userTicks, systemTicks] = fields.slice(11, 13);
  return {
    id,
    parent: Number(parent),
    userTicks: Number(userTicks),
    systemTicks: Number(systemTicks),
  };
}

/** Undefined where the process has ended meanwhile. */
function read(id: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${id}/${file}`, "utf8");
  } catch {
    return undefined;
  }
}
