import { CoreError } from "../core/errors.ts";
import { KERNEL_PLANES } from "../platform/linux/kernel-planes.ts";

/**
 * Refuses a second data plane of the kernel in one instance, which would find the lock of the first held.
 * @param name of a backend
 * @param before the names of those that were given before it
 * @param where what an error calls the place that it stands in
 */
export function refuseSecondPlane(name: string, before: Iterable<string>, where: string): void {
  const planes: readonly string[] = KERNEL_PLANES;
  const first = planes.includes(name) ? [...before].find((one) => planes.includes(one)) : undefined;
  if (first === undefined) return;
  const what = first === name ? "is given twice" : `is given beside "${first}"`;
  throw new CoreError(
    "ERR_CONFIG_INVALID",
    `${where}: "${name}" ${what}; expected at most one of ${planes.join(", ")}: there is one data plane of the kernel in a network namespace`,
  );
}
