import type { BackendDefinition } from "./backend.ts";

/** All backends that take a node's view, one line each; nothing is loaded before it is asked for. */
const BACKENDS: ReadonlyMap<string, () => Promise<BackendDefinition>> = new Map<
  string,
  () => Promise<BackendDefinition>
>([
  ["print", async () => (await import("./print/definition.ts")).PRINT],
  ["iptables", async () => (await import("./iptables/definition.ts")).IPTABLES],
  ["hcn", async () => (await import("./hcn/definition.ts")).HCN],
  ["nftables", async () => (await import("./nftables/definition.ts")).NFTABLES],
  ["ipvs", async () => (await import("./ipvs/definition.ts")).IPVS],
  ["userspace", async () => (await import("./userspace/definition.ts")).USERSPACE],
  ["edge", async () => (await import("./edge/definition.ts")).EDGE],
  ["healthchecks", async () => (await import("./healthchecks/definition.ts")).HEALTHCHECKS],
]);

export const BACKEND_NAMES: readonly string[] = [...BACKENDS.keys()];

/** Undefined where there is no backend of that name. */
export async function loadBackend(name: string): Promise<BackendDefinition | undefined> {
  return BACKENDS.get(name)?.();
}

export async function loadAllBackends(): Promise<readonly BackendDefinition[]> {
  return Promise.all([...BACKENDS.values()].map((load) => load()));
}
