/**
 * How many calls of HCN it takes, on the fake: a first sync of 1,000 services with 10 endpoints each, one
 * endpoint's change, and nothing.
 *
 *     npm run bench -- hcn [--json]
 */
import { createHcnBackend } from "../src/backends/hcn/hcn-backend.ts";
import { HCN_OPTIONS } from "../src/backends/hcn/options.ts";
import { endpointSchema } from "../src/core/model/endpoint.ts";
import type { ModelObject } from "../src/core/model/object.ts";
import { serviceSchema } from "../src/core/model/service.ts";
import { flagLayer, resolveOptions } from "../src/core/options/resolve-options.ts";
import { GlobalStore } from "../src/core/store/global-store.ts";
import { NodeWatcher } from "../src/core/view/node-watcher.ts";
import { FakeHcn } from "../src/platform/windows/fake.ts";
import { MeteredCalls } from "../src/platform/windows/metered-calls.ts";
import { type Figure, isMet, renderJson, renderTable } from "./support/report.ts";

const SERVICES = 1000;
const ENDPOINTS = 10;
const NETWORK = "0f5f6e1c-0f5e-4d5c-9f0a-2b7e8f9d1c11";

const fake = new FakeHcn();
const subnets = [{ IpAddressPrefix: "10.0.0.0/8" }];
fake.seed(
  "Network",
  NETWORK,
  JSON.stringify({ ID: NETWORK, Name: "cbr0", Type: "L2Bridge", Ipams: [{ Subnets: subnets }] }),
);
const calls = new MeteredCalls(fake);
const silent = (): void => undefined;
const { values } = resolveOptions(HCN_OPTIONS, [flagLayer({ networkName: "cbr0" })]);
if (values === undefined) throw new Error("the options are not right");
const backend = await createHcnBackend(
  values,
  {
    nodeName: "here",
    log: { debug: silent, info: silent, warn: silent, error: silent },
    stdout: process.stdout,
  },
  {
    openCalls: async () => calls,
    takeLock: async () => ({ release: async () => undefined }),
    macOf: () => undefined,
    clock: { nowMs: () => performance.now(), sleep: async () => undefined, every: () => silent },
  },
);
const store = new GlobalStore();
const watcher = new NodeWatcher(store, "here", ["nodes"]);

const objects: ModelObject[] = [];
for (let service = 0; service < SERVICES; service += 1) {
  const at = `${service >> 8}.${service & 255}`;
  const ports = [{ port: 80, targetPort: 8080 }];
  objects.push(
    serviceSchema.parse({
      kind: "Service",
      name: `s${service}`,
      clusterIPs: [`10.96.${at}`],
      ports,
    }),
  );
  for (let number = 1; number <= ENDPOINTS; number += 1) objects.push(pod(service, number));
}
const first = await sync(() =>
  store.transact("bench", (transaction) => transaction.replaceAll(objects)),
);
const change = await sync(() =>
  store.transact("bench", (transaction) =>
    transaction.replaceAll([...objects.slice(0, -1), pod(SERVICES - 1, 99)]),
  ),
);
const before = total();
await backend.sink.send({ op: "sync" });
const nothing = total() - before;
await backend.close();

const minimal = SERVICES * (ENDPOINTS + 1);
const figures: readonly Figure[] = [
  {
    name: "first sync, against one call for each object",
    value: first / minimal,
    unit: "times",
    limit: 1.1,
  },
  { name: "one endpoint's change", value: change, unit: "calls", limit: 3 },
  { name: "nothing changed", value: nothing, unit: "calls", limit: 0 },
];
console.log(process.argv.includes("--json") ? renderJson(figures) : renderTable(figures));
if (!figures.every(isMet)) process.exitCode = 1;

function pod(service: number, number: number): ModelObject {
  const address = `10.${100 + (service >> 8)}.${service & 255}.${number}`;
  return endpointSchema.parse({
    kind: "Endpoint",
    group: `s${service}`,
    name: `p${number}`,
    addresses: [address],
    node: "there",
  });
}

function total(): number {
  let sum = 0;
  for (const count of calls.counts().values()) sum += count.total;
  return sum;
}

/** @returns how many calls it took */
async function sync(act: () => void): Promise<number> {
  act();
  store.markSynced("bench");
  const start = total();
  for (const op of watcher.poll() ?? []) {
    if (op.op === "reset") backend.sink.reset();
    else await backend.sink.send(op);
  }
  return total() - start;
}
