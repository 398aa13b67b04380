const MICROSECONDS_A_MILLISECOND = 1000;
const BYTES_A_MEGABYTE = 1_048_576;

/** CPU time of all threads of this process while `work` ran. */
export function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / MICROSECONDS_A_MILLISECOND;
}

/** The middle one; of an even number the upper of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new Error("no values to take the median of");
  return middle;
}

/** Frees what can be freed; needs `--expose-gc`. */
export function collectGarbage(): void {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error("run node with --expose-gc");
  // Some things are freed only after another has gone.
  for (let round = 0; round < 4; round += 1) gc();
}

export function residentMegabytes(): number {
  return process.memoryUsage().rss / BYTES_A_MEGABYTE;
}

/** What JavaScript objects and buffers take. */
export function heapMegabytes(): number {
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / BYTES_A_MEGABYTE;
}
