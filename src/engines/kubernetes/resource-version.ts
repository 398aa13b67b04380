/** What a client says to be given whatever the server has at hand. */
export const ANY_VERSION = "0";

const NUMBER = /^(0|[1-9]\d*)$/;

/**
 * Whether `a` is older than `b`, or the same: Kubernetes' own kinds have growing numbers. False where
 * one of them is no number, as then nothing can be said.
 */
export function isNotNewer(a: string, b: string): boolean {
  if (!NUMBER.test(a) || !NUMBER.test(b)) return false;
  return a.length === b.length ? a <= b : a.length < b.length;
}

export function isOlder(a: string, b: string): boolean {
  return a !== b && isNotNewer(a, b);
}
