import { mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What `ip netns exec NAME` puts in the place of the files in /etc (ip-netns(8)). */
const FOLDER = "/etc/netns";
const FILE = "resolv.conf";
const MARK = "# Written by portolan edge node; goes with the namespace.\n";

/**
 * Tells who runs in a named namespace by `ip netns exec` whom to ask for names. A file that somebody else
 * wrote stays as it is. Throws where it can not be written.
 */
export function writeNamespaceResolvers(name: string, ips: readonly string[]): void {
  const path = join(FOLDER, name, FILE);
  const before = read(path);
  if (before !== undefined && !before.startsWith(MARK)) return;
  mkdirSync(join(FOLDER, name), { recursive: true });
  writeFileSync(path, `${MARK}${ips.map((ip) => `nameserver ${ip}\n`).join("")}`);
}

/** Removes what the other one wrote, and folders that are empty then. Nothing happens where there is nothing. */
export function removeNamespaceResolvers(name: string): void {
  const path = join(FOLDER, name, FILE);
  if (read(path)?.startsWith(MARK) !== true) return;
  rmSync(path, { force: true });
  for (const folder of [join(FOLDER, name), FOLDER]) {
    try {
      rmdirSync(folder);
    } catch {
      // Others have files there.
      return;
    }
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
