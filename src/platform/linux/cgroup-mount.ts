import { readFile } from "node:fs/promises";

/** Where this process sees what is mounted: proc_pid_mounts(5). */
const MOUNTS = "/proc/self/mounts";

/** Where the cgroups of version 2 are mounted, cgroups(7); undefined where they are not. */
export async function findCgroupMount(): Promise<string | undefined> {
  return parseCgroupMount(await readFile(MOUNTS, "utf8").catch(() => ""));
}

/** The first mount of the type cgroup2; spaces in its path are escaped as octal numbers there. */
export function parseCgroupMount(mounts: string): string | undefined {
  for (const line of mounts.split("\n")) {
    const [, path, type] = line.split(" ");
    if (type !== "cgroup2" || path === undefined) continue;
    return path.replace(/\\(\d{3})/g, (_, octal: string) =>
      String.fromCharCode(Number.parseInt(octal, 8)),
    );
  }
  return undefined;
}
