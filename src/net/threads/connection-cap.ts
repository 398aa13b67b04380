/** For the journal, logs, the API, controllers, pipes and whatever the process has open besides. */
const RESERVE = 256;
const MIN_PER_LOOP = 16;

/**
 * How many FDs each loop may have before accepting pauses, out of what the system lets the process
 * have (RLIMIT_NOFILE): all but a reserve, in equal parts.
 */
export function connectionCap(maxDescriptors: number, loops: number): number {
  const reserve = Math.min(RESERVE, maxDescriptors / 4);
  return Math.max(MIN_PER_LOOP, Math.floor((maxDescriptors - reserve) / Math.max(1, loops)));
}
