import { readdirSync, readFileSync } from "node:fs";

export interface PrefixProcess {
  readonly pid: number;
  /** What it was started as, its state and where in the kernel it waits: `services.exe S do_epoll_wait`. */
  readonly words: string;
}

/** All that runs in a Wine prefix, found by its environment. */
export function prefixProcesses(prefix: string): readonly PrefixProcess[] {
  const mark = `\0WINEPREFIX=${prefix}\0`;
  const found: PrefixProcess[] = [];
  for (const entry of readdirSync("/proc")) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || !`\0${read(pid, "environ")}`.includes(mark)) continue;
    const command = read(pid, "cmdline").split("\0").join(" ").trim();
    const state = /^State:\s+(\S)/m.exec(read(pid, "status"))?.[1] ?? "?";
    found.push({ pid, words: `${pid} ${command} ${state} ${read(pid, "wchan")}`.trim() });
  }
  return found;
}

/** Empty where the process is gone. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
