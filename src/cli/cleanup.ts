import { IPVS_OPTIONS } from "../backends/ipvs/options.ts";
import { loadBackend } from "../backends/registry.ts";
import { CoreError } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import { AVAILABLE_BACKENDS, refuseBackend } from "../daemon/backend-words.ts";
import { INSTANCE_OPTIONS } from "../daemon/options.ts";
import { readThisMachine } from "../daemon/this-machine.ts";
import type { InstanceLock } from "../platform/linux/instance-lock.ts";
import { cleanupValues } from "./cleanup-values.ts";
import type { CliContext, CommandInput, CommandSpec } from "./command-spec.ts";
import { EXIT_OK } from "./exit-codes.ts";
import { resolveFlags } from "./flags.ts";

const CLEANUP_OPTIONS = {
  to: {
    kind: "list",
    placeholder: "BACKEND",
    suggestions: AVAILABLE_BACKENDS,
    help: "the backend whose traces are removed; may be repeated",
  },
  kubeProxy: {
    kind: "boolean",
    help: "remove what a kube-proxy left: chains, tables, and its virtual servers of IPVS",
  },
  edge: { kind: "boolean", help: "remove what edge node made: workloads lose their network" },
  state: INSTANCE_OPTIONS.state,
  takeOver: { kind: "boolean", help: "also while a kube-proxy runs" },
  ipvsExcludeCidrs: {
    ...IPVS_OPTIONS.ipvsExcludeCidrs,
    help: "with --to ipvs: virtual servers with such addresses are of others; as it was given to run",
  },
} as const;

export const CLEANUP: CommandSpec = {
  name: "cleanup",
  summary: "remove everything that a backend, or kube-proxy, left on this machine",
  description:
    "Succeeds where nothing is left. Refused while an instance of the backend runs; what others made stays.",
  arguments: [],
  optionGroups: [{ title: "What to remove", specs: CLEANUP_OPTIONS }],
  examples: [
    { help: "chains and rules of iptables", command: "cleanup --to iptables" },
    {
      help: "virtual servers, but for those of others",
      command: "cleanup --to ipvs --ipvs-exclude-cidrs 192.0.2.0/24",
    },
    { help: "what kube-proxy left, after it was stopped", command: "cleanup --kube-proxy" },
    { help: "the edge node of this machine", command: "cleanup --edge --state /var/lib/portolan" },
  ],
  run: cleanup,
};

async function cleanup(input: CommandInput): Promise<number> {
  const { to, kubeProxy, edge, state, ...backendFlags } = resolveFlags(CLEANUP_OPTIONS, input);
  if (to.length === 0 && !kubeProxy && !edge) {
    throw new CoreError("ERR_USAGE", "missing; expected --to BACKEND, --kube-proxy or --edge");
  }
  const { stdout } = input.context;
  for (const name of to) {
    await cleanBackend(name, backendFlags, input.context);
    stdout.write(`${name}: nothing is left\n`);
  }
  if (kubeProxy) {
    await cleanKubeProxy(backendFlags.takeOver);
    stdout.write("kube-proxy: nothing is left\n");
  }
  if (edge) stdout.write(`edge: nothing is left (workloads: ${await cleanEdge(state)})\n`);
  return EXIT_OK;
}

async function cleanBackend(
  name: string,
  flags: Readonly<Record<string, unknown>>,
  context: CliContext,
): Promise<void> {
  const definition = await loadBackend(name);
  if (definition === undefined) refuseBackend(name, "--to");
  const findings = await definition.probe(readThisMachine(), "clean-up");
  const missing = findings.filter(({ severity }) => severity === "missing");
  if (missing.length > 0) {
    const lines = missing.map(({ what, remedy }) => `  ${what}: ${remedy}`);
    throw new CoreError(
      "ERR_NOT_POSSIBLE_HERE",
      [`the backend "${name}" does not work here:`, ...lines].join("\n"),
    );
  }
  const values = cleanupValues(definition.options, flags, context.environment);
  const backend = await definition.create(values, {
    nodeName: context.hostName,
    log: logTo(context),
    stdout: context.stdout,
    isForCleanup: true,
  });
  try {
    await backend.cleanup();
  } finally {
    await backend.close();
  }
}

async function cleanKubeProxy(takeOver: boolean): Promise<void> {
  const { findKubeProxy, refuseKubeProxy } = await import(
    "../platform/linux/kube-proxy-presence.ts"
  );
  const { removeKubeProxy } = await import("../backends/iptables/remove-kube-proxy.ts");
  const { systemExec } = await import("../platform/linux/exec.ts");
  const { takeInstanceLock } = await import("../platform/linux/instance-lock.ts");
  if (!takeOver) await refuseKubeProxy(findKubeProxy);
  const { openKubeProxyTraces } = await import("../backends/ipvs/open-kube-proxy-traces.ts");
  const { removeKubeProxyServers } = await import("../backends/ipvs/remove-kube-proxy-servers.ts");
  // The chains, sets and the link are also ours: not while an instance of ours uses them.
  const locks: InstanceLock[] = [];
  try {
    for (const plane of ["iptables", "ipvs"]) locks.push(takeInstanceLock(plane));
    await removeKubeProxy(systemExec);
    const traces = openKubeProxyTraces();
    await removeKubeProxyServers(traces).finally(() => traces.close());
  } finally {
    for (const lock of locks) lock.release();
  }
}

async function cleanEdge(state: string | undefined): Promise<number> {
  const { assertPossible } = await import("../daemon/edge/edge-node.ts");
  const { removeEdge } = await import("../daemon/edge/remove-edge.ts");
  const { edgeFolder } = await import("../daemon/edge/resolve-settings.ts");
  const { LinuxEdgeNetwork } = await import("../edge/environment/linux-edge-network.ts");
  const { takeInstanceLock } = await import("../platform/linux/instance-lock.ts");
  await assertPossible();
  const lock = takeInstanceLock("edge");
  const network = new LinuxEdgeNetwork();
  try {
    return await removeEdge(edgeFolder(state), network);
  } finally {
    network.close();
    lock.release();
  }
}

function logTo({ stderr }: CliContext): Log {
  const write = (_: object, message: string): void => void stderr.write(`${message}\n`);
  return { debug: () => undefined, info: () => undefined, warn: write, error: write };
}
