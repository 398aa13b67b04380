/** Commands of two words, by the first: what they have in common, for help. */
export const COMMAND_FAMILIES: ReadonlyMap<string, string> = new Map([
  ["edge", "connect the workloads of this machine, and machines with each other"],
]);
