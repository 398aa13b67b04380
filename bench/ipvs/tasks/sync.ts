/**
 * `sync SERVICES CHANGES`, in a kernel with IPVS: prints what it takes to bring so many services with
 * three endpoints each to the kernel, then one endpoint's change at a time, and what the tools take for
 * the same state: `ipvsadm -R`, `ipset restore` and `ip -batch`.
 */
import { execFileSync } from "node:child_process";
import { PassThrough } from "node:stream";
import { IPVS } from "../../../src/backends/ipvs/definition.ts";
import type { Log } from "../../../src/core/log.ts";
import { type Endpoint, endpointSchema } from "../../../src/core/model/endpoint.ts";
import { nodeSchema } from "../../../src/core/model/node.ts";
import { serviceSchema } from "../../../src/core/model/service.ts";
import { flagLayer, resolveOptions } from "../../../src/core/options/resolve-options.ts";
import { GlobalStore } from "../../../src/core/store/global-store.ts";
import { NodeWatcher } from "../../../src/core/view/node-watcher.ts";
import type { Op } from "../../../src/core/view/ops.ts";
import { median } from "../../support/measure.ts";

const OWNER = "bench";
const NODE = "node-a";
const ENDPOINTS = 3;
const TOOLS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  "# ipvsadm -R": ["ipvsadm", "-R"],
  "# ipset restore": ["ipset", "restore", "-exist"],
  "# ip -batch -": ["ip", "-batch", "-"],
};

const silent = (): void => undefined;
const LOG: Log = { debug: silent, info: silent, warn: silent, error: silent };
const [services = 100, changes = 20] = process.argv.slice(2).map(Number);
const context = { nodeName: NODE, log: LOG, stdout: new PassThrough() };
const given = flagLayer({ iptablesMode: "legacy", ipvsSyncPeriod: "1h" });
const { values } = resolveOptions(IPVS.options, [given]);
if (values === undefined) throw new Error("the options are not valid");

const store = new GlobalStore();
store.transact(OWNER, (transaction) => {
  transaction.set(nodeSchema.parse({ kind: "Node", name: NODE, addresses: ["192.168.100.1"] }));
  for (let index = 0; index < services; index += 1) {
    transaction.set(
      serviceSchema.parse({
        kind: "Service",
        name: `s${index}`,
        clusterIPs: [`10.96.${index >> 8}.${index & 255}`],
        ports: [{ name: "main", port: 80, targetPort: 8080 }],
      }),
    );
    for (let one = 0; one < ENDPOINTS; one += 1) transaction.set(endpointOf(index, one, 1));
  }
});
store.markSynced(OWNER);
const watcher = new NodeWatcher(store, NODE, IPVS.sets);
const ops = watcher.poll() ?? [];
const preview = await IPVS.preview?.(values, context, ops);
if (preview === undefined) throw new Error("there is no preview");

const backend = await IPVS.create(values, context);
const firstMs = await timed(() => send(ops));
const changeMs: number[] = [];
for (let round = 0; round < changes; round += 1) {
  const index = (round * 7919) % services;
  store.transact(OWNER, (transaction) => transaction.set(endpointOf(index, 0, 2 + round)));
  const change = watcher.poll() ?? [];
  changeMs.push(await timed(() => send(change)));
}
await backend.cleanup();
await backend.close();
const toolMs = await timed(async () => runTools(preview.script));
console.log(JSON.stringify({ firstMs, toolMs, changeMs: median(changeMs) }));
process.exit(0);

function endpointOf(index: number, one: number, version: number): Endpoint {
  return endpointSchema.parse({
    kind: "Endpoint",
    name: `e${index}-${one}`,
    group: `s${index}`,
    node: "node-b",
    addresses: [`10.${128 + one}.${(index >> 8) + 40 * (version % 5)}.${index & 255}`],
  });
}

async function send(batch: readonly Op[]): Promise<void> {
  for (const op of batch) {
    if (op.op === "reset") backend.sink.reset();
    else await backend.sink.send(op);
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** What a dry run says, but for rules and settings: those are the same whoever makes them. */
function runTools(script: string): void {
  const inputs = new Map<string, string[]>();
  let tool = "";
  for (const line of script.split("\n")) {
    if (line.startsWith("# ")) tool = line;
    else if (tool in TOOLS) inputs.set(tool, [...(inputs.get(tool) ?? []), line]);
  }
  for (const [name, lines] of inputs) {
    const [program, ...args] = TOOLS[name] ?? ["true"];
    execFileSync(program, args, { input: `${lines.join("\n")}\n`, stdio: "pipe" });
  }
}
