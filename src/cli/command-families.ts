/** Commands of two words, by the first: what they have in common, for help. */
export const COMMAND_FAMILIES: ReadonlyMap<string, string> = new Map([
  ["websocks", "tunnels that look like a web site, for programs that can use a proxy"],
  ["edge", "connect the workloads of this machine, and machines with each other"],
  ["kcptun", "carry TCP connections over lossy lines, by KCP over UDP"],
]);
