import type { CommandSpec } from "./command-spec.ts";

/** All commands, in the order in which help shows them; only the one that runs is loaded. */
export const COMMANDS: ReadonlyMap<string, () => Promise<CommandSpec>> = new Map([
  ["run", async () => (await import("./run.ts")).createRunCommand()],
  ["lb", async () => (await import("./lb.ts")).LB],
  ["check", async () => (await import("./check.ts")).CHECK],
  ["view", async () => (await import("./view.ts")).VIEW],
  ["explain", async () => (await import("./explain.ts")).EXPLAIN],
  ["profile", async () => (await import("./profile.ts")).PROFILE],
  ["cleanup", async () => (await import("./cleanup.ts")).CLEANUP],
  ["completion", async () => (await import("./completion.ts")).COMPLETION],
  ["version", async () => (await import("./version.ts")).VERSION],
]);

export function loadCommands(): Promise<readonly CommandSpec[]> {
  return Promise.all([...COMMANDS.values()].map((load) => load()));
}
