import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { findCgroupMount } from "../cgroup-mount.ts";

/** cgroups(7): `0::/system.slice/ssh.service` is the line of version 2. */
const OWN = "/proc/self/cgroup";

/** The folder of the cgroup of version 2 that this process is in; undefined where there is none. */
export async function ownCgroup(): Promise<string | undefined> {
  const mount = await findCgroupMount();
  const text = await readFile(OWN, "utf8").catch(() => "");
  const path = /^0::(.*)$/m.exec(text)?.[1];
  return mount === undefined || path === undefined ? undefined : join(mount, path);
}
