/**
 * `sync SERVICES CHANGES`, in a kernel with IPVS: prints what it takes to bring so many services with
 * three endpoints each to the kernel, then one endpoint's change at a time, then a restart that finds all
 * as it should be; and what the tools take for the same state: `ipvsadm -R`, `ipset restore` and
 * `ip -batch`, with `iptables-restore` for the rules beside them. How long programs ran during the first
 * sync is told, too: all else goes by netlink. One service is made and removed
 * before, so that neither side waits for modules of the kernel.
 */
import { execFileSync } from "node:child_process";
import { PassThrough } from "node:stream";
import type { Backend } from "../../../src/backends/backend.ts";
import { createIpvsBackend } from "../../../src/backends/ipvs/create-ipvs-backend.ts";
import { IPVS } from "../../../src/backends/ipvs/definition.ts";
import { openWorld } from "../../../src/backends/ipvs/world.ts";
import type { Log } from "../../../src/core/log.ts";
import { type Endpoint, endpointSchema } from "../../../src/core/model/endpoint.ts";
import { nodeSchema } from "../../../src/core/model/node.ts";
import { serviceSchema } from "../../../src/core/model/service.ts";
import { flagLayer, resolveOptions } from "../../../src/core/options/resolve-options.ts";
import { GlobalStore } from "../../../src/core/store/global-store.ts";
import { NodeWatcher } from "../../../src/core/view/node-watcher.ts";
import type { Op } from "../../../src/core/view/ops.ts";
import { type Exec, systemExec } from "../../../src/platform/linux/exec.ts";
import { median } from "../../support/measure.ts";
import { toolInputs } from "../tool-inputs.ts";

const OWNER = "bench";
const NODE = "node-a";
const ENDPOINTS = 3;
/** What is read back to see that both made the same. */
const LISTINGS: readonly (readonly [string, ...string[]])[] = [
  ["ipvsadm", "-Sn"],
  ["ipset", "save"],
  ["ip", "-o", "address", "show", "dev", "kube-ipvs0", "scope", "host"],
];

const silent = (): void => undefined;
const LOG: Log = { debug: silent, info: silent, warn: silent, error: silent };
const [services = 100, changes = 20] = process.argv.slice(2).map(Number);
const context = { nodeName: NODE, log: LOG, stdout: new PassThrough() };
const given = flagLayer({ iptablesMode: "legacy", ipvsSyncPeriod: "1h" });
const { values } = resolveOptions(IPVS.options, [given]);
if (values === undefined) throw new Error("the options are not valid");
const options = values;

const warm = await IPVS.create(options, context);
await send(warm, new NodeWatcher(filledStore(1), NODE, IPVS.sets).poll() ?? []);
await end(warm);

const store = filledStore(services);
const watcher = new NodeWatcher(store, NODE, IPVS.sets);
const ops = watcher.poll() ?? [];
const preview = await IPVS.preview?.(options, context, ops);
if (preview === undefined) throw new Error("there is no preview");
const inputs = toolInputs(preview.script);

const programs = { running: 0, sinceMs: 0, totalMs: 0 };
const backend = await createIpvsBackend(options, context, { ...openWorld(), exec: timedExec() });
programs.totalMs = 0;
const firstMs = await timed(() => send(backend, ops));
const programMs = programs.totalMs;
const made = counted();
const changeMs: number[] = [];
for (let round = 0; round < changes; round += 1) {
  const index = (round * 7919) % services;
  // Another one than the last time that it was this service's turn.
  const version = 2 + ((round + Math.floor(round / services)) % 4);
  store.transact(OWNER, (transaction) => transaction.set(endpointOf(index, 0, version)));
  const change = watcher.poll() ?? [];
  changeMs.push(await timed(() => send(backend, change)));
}
await backend.close();
const again = await IPVS.create(options, context);
const state = new NodeWatcher(store, NODE, IPVS.sets).poll() ?? [];
const restartMs = await timed(() => send(again, state));
await end(again);

const toolMs = await timed(async () => runTools(false));
const ruleMs = await timed(async () => runTools(true));
if (counted() !== made) throw new Error(`the tools made ${counted()}, and the backend ${made}`);
const result = { firstMs, programMs, toolMs, ruleMs, restartMs, changeMs: median(changeMs) };
console.log(JSON.stringify(result));
process.exit(0);

function filledStore(count: number): GlobalStore {
  const filled = new GlobalStore();
  filled.transact(OWNER, (transaction) => {
    transaction.set(nodeSchema.parse({ kind: "Node", name: NODE, addresses: ["192.168.100.1"] }));
    for (let index = 0; index < count; index += 1) {
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
  filled.markSynced(OWNER);
  return filled;
}

function endpointOf(index: number, one: number, version: number): Endpoint {
  return endpointSchema.parse({
    kind: "Endpoint",
    name: `e${index}-${one}`,
    group: `s${index}`,
    node: "node-b",
    addresses: [`10.${128 + one}.${(index >> 8) + 40 * (version % 5)}.${index & 255}`],
  });
}

async function send({ sink }: Backend, batch: readonly Op[]): Promise<void> {
  for (const op of batch) {
    if (op.op === "reset") sink.reset();
    else await sink.send(op);
  }
}

/** Both families start programs at the same time: the time in which any of them runs is added up. */
function timedExec(): Exec {
  return {
    run: async (...call) => {
      if (programs.running === 0) programs.sinceMs = performance.now();
      programs.running += 1;
      try {
        return await systemExec.run(...call);
      } finally {
        programs.running -= 1;
        if (programs.running === 0) programs.totalMs += performance.now() - programs.sinceMs;
      }
    },
  };
}

async function end(one: Backend): Promise<void> {
  await one.cleanup();
  await one.close();
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** What a dry run says, either the rules or all else. */
function runTools(areRules: boolean): void {
  for (const { program, args, text } of inputs) {
    if (program.includes("tables") !== areRules) continue;
    execFileSync(program, args, { input: text, stdio: "pipe" });
  }
}

/** How much there is of each kind, in words. */
function counted(): string {
  const limits = { encoding: "utf8", maxBuffer: 2 ** 30 } as const;
  return LISTINGS.map(([program, ...args]) => {
    const lines = execFileSync(program, args, limits).split("\n").length - 1;
    return `${lines} lines of ${program}`;
  }).join(", ");
}
