import { mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findCgroupMount } from "../../src/platform/linux/cgroup-mount.ts";
import { removeCgroupAtExit } from "../support/remove-at-exit.ts";

/** Folders of cgroups that callers are in. */
export interface CallerCgroups {
  /** For callers that are led, and nobody else. */
  readonly led: string;
  /** That of this process, for all others. */
  readonly own: string;
  remove(): void;
}

/** Undefined where there are no cgroups of version 2. */
export async function createCallerCgroups(): Promise<CallerCgroups | undefined> {
  const mount = await findCgroupMount();
  if (mount === undefined) return undefined;
  const own = join(mount, parseOwnCgroup(readFileSync("/proc/self/cgroup", "utf8")));
  const led = mkdtempSync(join(mount, "portolan-bench-"));
  return { led, own, remove: removeCgroupAtExit(led) };
}

/** cgroups(7): that of version 2 has the number 0 and no controllers. */
export function parseOwnCgroup(text: string): string {
  const [, path] = /^0::(.+)$/m.exec(text) ?? [];
  if (path === undefined) throw new Error("/proc/self/cgroup has no cgroup of version 2");
  return path;
}
