import type { TestOptions } from "vitest";
import { probeFastPlane } from "../../src/platform/linux/fast-path/open-fast-plane.ts";
import { type Requirement, requires } from "../support/requires.ts";

/** The same, and a kernel with tcx. Only an older one is a reason: programs that a newer one refuses are a fault. */
export function requiresTcx(...needs: readonly Requirement[]): TestOptions {
  const isOld = process.getuid?.() === 0 && probeFastPlane()?.remedy.startsWith("boot") === true;
  if (!isOld) return requires(...needs);
  return { skip: true, meta: { skipReason: "needs programs of type tcx (a newer kernel)" } };
}
