/**
 * Runs on Windows (or Wine), with the stand-in: brings given states into HCN, step by step, and tells what
 * came of it as JSON.
 *
 *     node sync-under-wine.mjs STEPS.json OUT.json CALLS
 */
import { readFileSync, writeFileSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import koffi from "koffi";
import { createHcnBackend } from "../../dist/backends/hcn/hcn-backend.js";
import { HCN_OPTIONS } from "../../dist/backends/hcn/options.js";
import { createWorld } from "../../dist/backends/hcn/world.js";
import { flagLayer, resolveOptions } from "../../dist/core/options/resolve-options.js";
import { openComputeNetwork } from "../../dist/platform/windows/compute-network.js";
import { computeNetworkPath } from "../../dist/platform/windows/system-dll.js";

const [stepsFile, outFile, callCount] = process.argv.slice(2);
const NETWORK = "0f5f6e1c-0f5e-4d5c-9f0a-2b7e8f9d1c11";
const QUERY = '{"SchemaVersion":{"Major":2,"Minor":0},"Flags":0}';
const silent = () => undefined;
const log = { debug: silent, info: silent, warn: silent, error: silent };
const { values } = resolveOptions(HCN_OPTIONS, [flagLayer({ networkName: "cbr0" })]);
const open = () =>
  createHcnBackend(values, { nodeName: "here", log, stdout: process.stdout }, createWorld());

const backend = await open();
const second = await open().then(
  () => "opened",
  (error) => error.message,
);
const calls = openComputeNetwork();
const notices = [];
const stop = calls.watch(({ what }) => notices.push(what));
const states = [];
for (const ops of JSON.parse(readFileSync(stepsFile, "utf8"))) {
  for (const op of ops) {
    if (op.op === "reset") backend.sink.reset();
    else await backend.sink.send(op);
  }
  states.push([...(await read("Endpoint")), ...(await read("LoadBalancer"))].sort());
}
const refusal = await calls.query("LoadBalancer", NETWORK, QUERY).catch((error) => error.message);

const dll = koffi.load(computeNetworkPath());
const openHandles = dll.func("int32_t __stdcall StandInOpenHandles()");
const makeNetwork = dll.func(
  "int32_t __stdcall HcnCreateNetwork(void *id, str16 json, _Out_ void **handle, void *error)",
);
const other = [null];
makeNetwork(Buffer.alloc(16, 7), '{"Name":"other"}', other, null);
dll.func("int32_t __stdcall HcnCloseNetwork(void *)")(other[0]);
for (let n = 0; n < 1000 && notices.length === 0; n += 1) await turn();
stop();

// One call is an open, a query or a change, and a close: all that can leak is in it.
const megabytes = [];
const disposed = koffi.stats().disposed;
for (let n = 0; n < Number(callCount); n += 1) {
  const id = "99999999-0000-4000-8000-000000000001";
  const step = n % 4;
  const json = JSON.stringify({ ID: id, Name: "x".repeat(4096) });
  if (step === 0) await calls.create("Endpoint", id, json, NETWORK);
  if (step === 1) await calls.query("Endpoint", id, QUERY);
  if (step === 2) await calls.delete("Endpoint", id);
  if (step === 3) await calls.query("Endpoint", id, QUERY).catch(silent);
  if (n % 1000 === 999) {
    globalThis.gc?.();
    megabytes.push(Math.round(process.memoryUsage().rss / 1e5) / 10);
  }
}
const freed = koffi.stats().disposed - disposed;
const handles = openHandles();
await backend.cleanup();
const left = [...(await read("Endpoint")), ...(await read("LoadBalancer"))];
calls.close();
await backend.close();
writeFileSync(
  outFile,
  JSON.stringify({ states, second, refusal, notices, megabytes, freed, handles, left }),
);

async function read(kind) {
  const ids = JSON.parse(await calls.enumerate(kind, QUERY));
  return Promise.all(ids.map((id) => calls.query(kind, id, QUERY)));
}
