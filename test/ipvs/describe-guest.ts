import { describe, expect, test } from "vitest";
import { requires } from "../support/requires.ts";
import { type GuestOptions, type GuestRun, runGuest } from "./run-guest.ts";

const NEEDS = requires("linux", "linux.uml", "modprobe", "ip", "iptables", "ipset", "ipvsadm");

/**
 * Registers the tests of guest files with what became of them: they are run while tests are collected,
 * since only the guest knows their names.
 */
export async function describeGuest(
  title: string,
  files: readonly string[],
  options: GuestOptions,
): Promise<void> {
  const run = NEEDS.skip === true ? undefined : await runGuest(files, options);
  describe(title, NEEDS, () => {
    test("the kernel ran to its end", () => {
      expect(run?.results.length, run?.output).toBeGreaterThan(0);
      const hasFailed = run?.results.some(({ problem }) => problem !== undefined);
      expect(run?.code, run?.output).toBe(hasFailed ? 1 : 0);
    });
    for (const { path, problem, skipped } of run?.results ?? []) {
      test(path.join(" > "), { skip: skipped }, () => {
        if (problem !== undefined) throw new Error(withOutput(problem, run));
      });
    }
  });
}

function withOutput(problem: string, run: GuestRun | undefined): string {
  return run?.output.trim() === "" ? problem : `${problem}\n${run?.output.slice(-2000)}`;
}
