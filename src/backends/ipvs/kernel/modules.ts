import type { Log } from "../../../core/log.ts";
import type { KernelModules } from "../../../platform/linux/kernel-modules.ts";
import { SCHEDULERS, type Scheduler } from "../plan/balancing.ts";

/** Of sets, of the rules that look into them, of the link and of tracked connections. */
const AROUND: readonly string[] = [
  "ip_set",
  "ip_set_hash_ip",
  "ip_set_hash_ipport",
  "ip_set_hash_ipportip",
  "ip_set_hash_ipportnet",
  "ip_set_bitmap_port",
  "xt_set",
  "dummy",
  "nf_conntrack",
];

/** The module of a scheduler: `ip_vs_wrr`. */
function moduleOf(scheduler: string): string {
  return `ip_vs_${scheduler}`;
}

/** What has to be done where modules are missing. */
export function remedyFor(modules: readonly string[]): string {
  return `modprobe -a ${modules.join(" ")}, or install the package with the rest of this kernel's modules`;
}

/** What is needed from the start. */
export function modulesFor(scheduler: Scheduler): readonly string[] {
  return ["ip_vs", moduleOf(scheduler), ...AROUND];
}

/** Loads what is needed from the start; other schedulers are loaded when they are asked for. Told. */
export async function prepareModules(
  modules: KernelModules,
  scheduler: Scheduler,
  log: Log,
): Promise<void> {
  const { loaded, missing } = await modules.ensure(modulesFor(scheduler));
  if (loaded.length > 0) {
    log.info({ backend: "ipvs" }, `modules of the kernel were loaded: ${loaded.join(", ")}`);
  }
  if (missing.length > 0) {
    const what = `modules of the kernel are missing: ${missing.join(", ")}`;
    log.warn({ backend: "ipvs" }, `${what}; ${remedyFor(missing)}`);
  }
}

/** What is missing of it by now. Nothing is loaded. */
export function absentModules(modules: KernelModules): {
  readonly needed: readonly string[];
  readonly schedulers: readonly string[];
} {
  return {
    needed: modules.absent(["ip_vs", ...AROUND]),
    schedulers: modules.absent(SCHEDULERS.map(moduleOf)),
  };
}
