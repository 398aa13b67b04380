import { release } from "node:os";

const OLDEST = { major: 6, minor: 6 } as const;

/** The kernel that first knows programs of type tcx, for people. */
export const OLDEST_WITH_TCX: string = `Linux ${OLDEST.major}.${OLDEST.minor}`;

/** Whether a kernel knows them. @param kernel its release, as in `6.1.0-18-amd64` */
export function hasTcx(kernel: string = release()): boolean {
  const [major = 0, minor = 0] = kernel.split(".").map((part) => Number.parseInt(part, 10));
  return major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor);
}
