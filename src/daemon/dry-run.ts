import type { Finding, Preview } from "../backends/backend.ts";
import { renderOp } from "../backends/print/render-op.ts";
import { CONTROL_OWNER } from "../control/world.ts";
import { formatListenAddress } from "../core/options/listen-address.ts";
import type { Conflict } from "../core/store/resolution.ts";
import { NodeWatcher } from "../core/view/node-watcher.ts";
import type { Op } from "../core/view/ops.ts";
import type { BackendConfig, InstanceConfig } from "./config.ts";
import type { InstanceDeps } from "./instance-deps.ts";
import { readKept } from "./journal/journal.ts";
import { takeSnapshot } from "./take-snapshot.ts";

/** What `run` would do. */
interface DryRun {
  readonly node: string;
  readonly sources: readonly string[];
  readonly conflicts: readonly Conflict[];
  /** What would be served, and where. */
  readonly listens: readonly { readonly what: string; readonly address: string }[];
  readonly backends: readonly BackendDryRun[];
}

interface BackendDryRun {
  readonly name: string;
  /** Why it was chosen, where nobody named it. */
  readonly reasons: readonly string[];
  readonly findings: readonly Finding[];
  readonly ops: readonly Op[];
  /** What the data plane would be told, where the backend can say; empty where it has it already. */
  readonly executes: string | undefined;
  /** Why the data plane could not be read, so that all of it is told. */
  readonly unread: string | undefined;
  /** What would be done beside that, in words. */
  readonly further: readonly string[];
}

/** What `run` would do, as text or as JSON: sources and data planes are read once, and nothing is touched. */
export async function dryRun(config: InstanceConfig, deps: InstanceDeps): Promise<string> {
  const plan = await planRun(config, deps);
  return config.values.json ? `${JSON.stringify(plan, null, 2)}\n` : render(plan);
}

async function planRun(config: InstanceConfig, deps: InstanceDeps): Promise<DryRun> {
  const { node, values } = config;
  const sources = await Promise.all(config.sources.map((spec) => deps.createSource(spec, config)));
  const { control } = config;
  const sourceOwners = config.sources.map((spec) => spec.owner);
  const owners = control === undefined ? sourceOwners : [...sourceOwners, CONTROL_OWNER];
  const ownerOrder = values.sourceOrder === "first-wins" ? owners : [];
  const store = await takeSnapshot(sources, { ownerOrder });
  if (control !== undefined && !control.beginsEmpty) {
    const kept = await readKept(control.stateFolder);
    store.transact(CONTROL_OWNER, (transaction) => transaction.replaceAll(kept.objects()));
  }
  const backends: BackendDryRun[] = [];
  for (const backend of config.backends) {
    const watcher = new NodeWatcher(store, node, backend.definition.sets);
    const ops = watcher.poll() ?? [];
    watcher.close();
    backends.push(await planBackend(backend, { node, ops, deps }));
  }
  return {
    node,
    sources: owners,
    conflicts: store.conflicts(),
    listens: listensOf(config),
    backends,
  };
}

async function planBackend(
  { name, definition, options, reasons = [] }: BackendConfig,
  parts: { readonly node: string; readonly ops: readonly Op[]; readonly deps: InstanceDeps },
): Promise<BackendDryRun> {
  const { ops, deps } = parts;
  const context = { nodeName: parts.node, log: deps.log, stdout: deps.stdout };
  const preview: Partial<Preview> = (await definition.preview?.(options, context, ops)) ?? {};
  return {
    name,
    reasons,
    findings: await definition.probe(deps.machine),
    ops,
    executes: preview.script,
    unread: preview.unread,
    further: preview.further ?? [],
  };
}

function listensOf({ servesApi, values, control }: InstanceConfig): DryRun["listens"] {
  const wanted = [
    { what: "the API", address: servesApi ? values.apiListen : undefined },
    { what: "metrics", address: values.metricsListen },
    { what: "health", address: values.healthListen },
    { what: "commands by RESP", address: control?.resp?.address },
    { what: "commands by HTTP", address: control?.http?.address },
  ];
  return wanted.flatMap(({ what, address }) =>
    address === undefined ? [] : { what, address: formatListenAddress(address) },
  );
}

function render({ node, sources, conflicts, listens, backends }: DryRun): string {
  const lines = [
    `would run as node ${node}`,
    ...sources.map((owner) => `would follow ${owner}`),
    ...conflicts.map(
      ({ owner, what, heldBy }) => `would not honour of ${owner}: ${what} is held by ${heldBy}`,
    ),
    ...listens.map(({ what, address }) => `would serve ${what} on ${address}`),
    ...backends.flatMap(renderBackend),
  ];
  return `${lines.join("\n")}\n`;
}

function renderBackend(backend: BackendDryRun): readonly string[] {
  const { name, reasons, findings } = backend;
  const [chosen, ...passedOver] = reasons;
  const problems = [
    ...(chosen === undefined ? [] : [`would take ${chosen}`]),
    ...passedOver.map((reason) => `  ${reason}`),
    ...findings.map(({ severity, what, remedy }) => `${name}: ${severity}: ${what}: ${remedy}`),
  ];
  // Details are indented.
  const further = backend.further.map((line) => (line.startsWith(" ") ? line : `${name} ${line}`));
  return [...problems, ...renderActs(backend), ...further];
}

function renderActs({ name, ops, executes, unread }: BackendDryRun): readonly string[] {
  if (executes === undefined) {
    return [`would send to ${name}:`, ...ops.map((op) => `  ${renderOp(op)}`)];
  }
  if (executes === "") return [`${name} would execute nothing: the kernel has it already`];
  const lead =
    unread === undefined
      ? `${name} would execute:`
      : `${name} would execute, where nothing of it is there yet (what is there could not be read: ${unread}):`;
  return [lead, executes.trimEnd()];
}
