import type { CommandSpec } from "./command-spec.ts";

/** All commands, in the order in which help shows them; only the one that runs is loaded. */
export const COMMANDS: ReadonlyMap<string, () => Promise<CommandSpec>> = new Map([
  ["run", async () => (await import("./run.ts")).createRunCommand()],
  ["up", async () => (await import("./up.ts")).createUpCommand()],
  ["kube-proxy", async () => (await import("./kube-proxy.ts")).KUBE_PROXY],
  ["manager", async () => (await import("./manager.ts")).MANAGER],
  ["lb", async () => (await import("./lb.ts")).LB],
  ["edge up", async () => (await import("./edge/edge-up.ts")).EDGE_UP],
  ["websocks server", async () => (await import("./websocks/websocks-server.ts")).WEBSOCKS_SERVER],
  ["websocks agent", async () => (await import("./websocks/websocks-agent.ts")).WEBSOCKS_AGENT],
  ["edge node", async () => (await import("./edge/edge-node.ts")).EDGE_NODE],
  ["edge join", async () => (await import("./edge/edge-join.ts")).EDGE_JOIN],
  ["edge key", async () => (await import("./edge/edge-key.ts")).EDGE_KEY],
  ["edge status", async () => (await import("./edge/edge-status.ts")).EDGE_STATUS],
  ["kcptun server", async () => (await import("./kcptun/kcptun-server.ts")).KCPTUN_SERVER],
  ["kcptun client", async () => (await import("./kcptun/kcptun-client.ts")).KCPTUN_CLIENT],
  ["apply", async () => (await import("./apply.ts")).APPLY],
  ["diff", async () => (await import("./diff.ts")).DIFF],
  ["get", async () => (await import("./get.ts")).GET],
  ["delete", async () => (await import("./delete.ts")).DELETE],
  ["watch", async () => (await import("./watch.ts")).WATCH],
  ["status", async () => (await import("./status.ts")).STATUS],
  ["top", async () => (await import("./top.ts")).TOP],
  ["console", async () => (await import("./console.ts")).CONSOLE],
  ["check", async () => (await import("./check.ts")).CHECK],
  ["view", async () => (await import("./view.ts")).VIEW],
  ["explain", async () => (await import("./explain.ts")).EXPLAIN],
  ["profile", async () => (await import("./profile.ts")).PROFILE],
  ["cleanup", async () => (await import("./cleanup.ts")).CLEANUP],
  ["hello", async () => (await import("./hello.ts")).HELLO],
  ["support", async () => (await import("./support.ts")).SUPPORT],
  ["completion", async () => (await import("./completion.ts")).COMPLETION],
  ["version", async () => (await import("./version.ts")).VERSION],
]);

/** What a command line names first: one word or two. */
export function findCommand(argv: readonly string[]): (() => Promise<CommandSpec>) | undefined {
  const [first = "", second = ""] = argv;
  return COMMANDS.get(first) ?? COMMANDS.get(`${first} ${second}`);
}

export function loadCommands(): Promise<readonly CommandSpec[]> {
  return Promise.all([...COMMANDS.values()].map((load) => load()));
}
