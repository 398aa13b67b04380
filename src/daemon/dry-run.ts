import { renderOp } from "../backends/print/render-op.ts";
import { formatListenAddress } from "../core/options/listen-address.ts";
import { NodeWatcher } from "../core/view/node-watcher.ts";
import type { BackendConfig, InstanceConfig } from "./config.ts";
import type { InstanceDeps } from "./instance-deps.ts";
import { takeSnapshot } from "./take-snapshot.ts";

/** What `run` would do, in words: sources are read once, backends are only probed. */
export async function dryRun(config: InstanceConfig, deps: InstanceDeps): Promise<string> {
  const { node, values } = config;
  const sources = await Promise.all(config.sources.map((spec) => deps.createSource(spec, config)));
  const owners = config.sources.map((spec) => spec.owner);
  const ownerOrder = values.sourceOrder === "first-wins" ? owners : [];
  const store = await takeSnapshot(sources, { ownerOrder });
  const lines = [`would run as node ${node}`];
  for (const owner of owners) lines.push(`would follow ${owner}`);
  for (const claim of store.conflicts()) {
    lines.push(`would not honour of ${claim.owner}: ${claim.what} is held by ${claim.heldBy}`);
  }
  if (config.servesApi) {
    lines.push(`would serve the API on ${formatListenAddress(values.apiListen)}`);
  }
  if (values.metricsListen !== undefined) {
    lines.push(`would serve metrics on ${formatListenAddress(values.metricsListen)}`);
  }
  if (values.healthListen !== undefined) {
    lines.push(`would serve health on ${formatListenAddress(values.healthListen)}`);
  }
  for (const backend of config.backends) {
    lines.push(...(await describeBackend(backend, deps)));
    const watcher = new NodeWatcher(store, node, backend.definition.sets);
    for (const op of watcher.poll() ?? []) lines.push(`  ${renderOp(op)}`);
    watcher.close();
  }
  return `${lines.join("\n")}\n`;
}

async function describeBackend(
  { name, definition }: BackendConfig,
  deps: InstanceDeps,
): Promise<readonly string[]> {
  const findings = await definition.probe(deps.machine);
  return [
    ...findings.map(({ severity, what, remedy }) => `${name}: ${severity}: ${what}: ${remedy}`),
    `would send to ${name}:`,
  ];
}
