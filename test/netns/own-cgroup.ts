import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findCgroupMount } from "../../src/platform/linux/cgroup-mount.ts";
import { ownCgroup } from "../../src/platform/linux/live-rules/own-cgroup.ts";

/** cgroups(7): the processes in one; who is written there moves. */
const PROCESSES = "cgroup.procs";

let made = 0;

/**
 * A cgroup of a test's own, in which its process, and what that starts, are until it is left: programs
 * that are attached to it are met by nobody else.
 */
export class OwnCgroup {
  readonly path: string;
  readonly #home: string;

  private constructor(path: string, home: string) {
    this.path = path;
    this.#home = home;
  }

  static async enter(): Promise<OwnCgroup> {
    const mount = await findCgroupMount();
    const home = await ownCgroup();
    if (mount === undefined || home === undefined) throw new Error("there are no cgroups here");
    made += 1;
    const cgroup = new OwnCgroup(join(mount, `portolan-test-${process.pid}-${made}`), home);
    mkdirSync(cgroup.path);
    moveTo(cgroup.path, String(process.pid));
    return cgroup;
  }

  /** With all that was started in it, such as a compiler that waits for more. */
  leave(): void {
    const pids = readFileSync(join(this.path, PROCESSES), "utf8").trim().split("\n");
    for (const pid of pids) moveTo(this.#home, pid);
    rmdirSync(this.path);
  }
}

function moveTo(cgroup: string, pid: string): void {
  writeFileSync(join(cgroup, PROCESSES), pid);
}
