import { accessSync, constants, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { TestOptions } from "vitest";
import programs from "../../scripts/lib/programs.json" with { type: "json" };

/** What a test can need besides Node: a program that setup installs, or a place to run. */
export type Requirement = "linux" | "root" | "cgroup2" | keyof typeof programs;

/** What a machine has; the real one unless a test of `requiresOn` passes another. */
export interface Machine {
  readonly platform: string;
  readonly uid: number | undefined;
  hasProgram(name: string): boolean;
  /** Whether cgroups of version 2 are mounted, and may be made. */
  hasCgroups?(): boolean;
}

/** Administrators' folders, which a user's path may leave out. */
const SYSTEM_FOLDERS = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

const THIS_MACHINE: Machine = {
  platform: process.platform,
  uid: process.getuid?.(),
  hasProgram(name) {
    const folders = [...(process.env["PATH"] ?? "").split(delimiter), ...SYSTEM_FOLDERS];
    return folders.some((folder) => isExecutable(join(folder, name)));
  },
  hasCgroups() {
    if (process.platform !== "linux") return false;
    return /^\S+ \S+ cgroup2 rw/m.test(readFileSync("/proc/self/mounts", "utf8"));
  },
};

/**
 * Options of a test or of a `describe` that needs something of the machine. Where that is missing it
 * is skipped, with the reason and the remedy:
 *
 *     test("refuses strangers", requires("openssl"), async () => { ... });
 */
export function requires(...needs: readonly Requirement[]): TestOptions {
  return requiresOn(THIS_MACHINE, needs);
}

export function requiresOn(machine: Machine, needs: readonly Requirement[]): TestOptions {
  const missing = needs.filter((need) => !has(machine, need));
  if (missing.length === 0) return {};
  const reason = missing.map((need) => `needs ${need} (${remedyFor(need)})`).join(", ");
  return { skip: true, meta: { skipReason: reason } };
}

function has(machine: Machine, need: Requirement): boolean {
  if (need === "linux") return machine.platform === "linux";
  if (need === "root") return machine.uid === 0;
  if (need === "cgroup2") return machine.hasCgroups?.() === true;
  return machine.hasProgram(need);
}

function remedyFor(need: Requirement): string {
  if (need === "linux") return "run the tests on Linux";
  if (need === "root") return "run the tests as root";
  if (need === "cgroup2") return "mount cgroups of version 2, writable";
  return `apt-get install ${programs[need].package}`;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
