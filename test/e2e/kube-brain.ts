import { expect, onTestFinished } from "vitest";
import { type CliProcess, startCli } from "../support/cli.ts";
import { freePortBlock } from "../support/free-ports.ts";
import { kubeNode, kubeService, kubeSlice } from "../support/kube-objects.ts";
import { KubeServer } from "../support/kube-server.ts";

/** What an agent was told to have at a sync: the addresses of endpoints, in order. */
type NodeState = readonly string[];

const CONSTANT_ADDRESS = "10.2.0.1";

/** All of them change at once, so every state but these is a wrong one. */
const addressesOf = (generation: number): readonly string[] =>
  [1, 2, 3].map((last) => `10.1.${generation}.${last}`);

const stateOf = (generation: number): NodeState => [...addressesOf(generation), CONSTANT_ADDRESS];

/** The states that operations lead to, one for each sync. */
function statesOf(output: string): readonly NodeState[] {
  const states: NodeState[] = [];
  const endpoints = new Map<string, string>();
  // The last line may not be whole yet.
  for (const line of output.split("\n").slice(0, -1)) {
    const [op, set, path = ""] = line.split(" ", 3);
    if (op === "reset") endpoints.clear();
    else if (op === "sync") states.push([...endpoints.values()].sort());
    else if (set === "endpoints" && op === "delete") endpoints.delete(path);
    else if (set === "endpoints")
      endpoints.set(path, /"addresses":\["([\d.]+)"/.exec(line)?.[1] ?? "");
  }
  return states;
}

/** The generations that an agent had, one after the other; fails where a state is none. */
function generationsOf(agent: CliProcess, newest: number): readonly number[] {
  const known = new Map<string, number>();
  for (let generation = 0; generation <= newest; generation += 1) {
    known.set(stateOf(generation).join(), generation);
  }
  return statesOf(agent.stdout).map((state) => {
    const generation = known.get(state.join());
    if (generation === undefined) throw new Error(`an agent had a wrong state: ${state.join(" ")}`);
    return generation;
  });
}

async function startCluster(nodes: readonly string[]): Promise<KubeServer> {
  const server = await KubeServer.start();
  onTestFinished(() => server.close());
  for (const node of nodes) server.put(kubeNode(node));
  server.put(kubeService("moving", 1));
  server.put(kubeService("constant", 2));
  server.put(kubeSlice("constant", "constant-a", [CONSTANT_ADDRESS]));
  return server;
}

/**
 * A brain follows a cluster and agents follow the brain, each in a process of its own, while endpoints
 * change and the brain is replaced again and again. No agent ever has a state that the cluster never
 * had, nor goes back to an older one.
 */
export async function restartBrain(agentCount: number, restarts: number): Promise<void> {
  const nodes = Array.from({ length: agentCount }, (_, index) => `node-${index}`);
  const server = await startCluster(nodes);
  let generation = -1;
  const change = (): void => {
    generation += 1;
    server.put(kubeSlice("moving", "moving-a", addressesOf(generation)));
  };
  change();
  const address = `127.0.0.1:${await freePortBlock(1)}`;
  const startBrain = async (): Promise<CliProcess> => {
    const source = ["--from", "kube", "--kube-server", server.url];
    const brain = startCli(["run", ...source, "--to", "api", "--api-listen", address]);
    await brain.waitFor(/follows http/, "stderr");
    return brain;
  };
  let brain = await startBrain();
  const agents = nodes.map((node) =>
    startCli(["run", "--from", `api:${address}`, "--to", "print", "--node", node]),
  );
  const allHave = async (wanted: number): Promise<void> => {
    for (const agent of agents) {
      await agent.waitFor(new RegExp(`10\\.1\\.${wanted}\\.3"[^\n]*\n(?:[^\n]*\n)*?sync\n`));
    }
  };
  await allHave(generation);
  for (let restart = 0; restart < restarts; restart += 1) {
    for (let step = 0; step < 5; step += 1) {
      change();
      await new Promise((resolve) => setImmediate(resolve));
    }
    // The first ones end in order, the last one as a machine that fails.
    await brain.stop(restart === restarts - 1 ? "SIGKILL" : "SIGTERM");
    change();
    brain = await startBrain();
    await allHave(generation);
  }
  for (const agent of agents) {
    const had = generationsOf(agent, generation);
    expect(had).toEqual([...had].sort((a, b) => a - b));
    expect(had.at(-1)).toBe(generation);
  }
}
