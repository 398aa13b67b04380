/**
 * Runs on Windows (or Wine), with the stand-in: brings given states into HCN, step by step, and tells what
 * came of it as JSON.
 *
 *     node sync-under-wine.mjs STEPS.json OUT.json
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

const [stepsFile, outFile] = process.argv.slice(2);
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
const stop = await calls.watch(({ what }) => notices.push(what));
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
while (notices.length === 0) await turn();
dll.func("int32_t __stdcall StandInRestart()")();
while (notices.length === 1) await turn();
await stop();

// While a call takes its time, the loop goes on.
const slow = dll.func("int32_t __stdcall StandInSlow(int32_t ms)");
slow(200);
let turns = 0;
let isOver = false;
const listing = calls.enumerate("Network", QUERY).finally(() => {
  isOver = true;
});
for (; !isOver; turns += 1) await turn();
await listing;
slow(0);

await backend.cleanup();
const left = [...(await read("Endpoint")), ...(await read("LoadBalancer"))];
await calls.close();
await backend.close();
await turn();
const handles = openHandles();
writeFileSync(outFile, JSON.stringify({ states, second, refusal, notices, turns, handles, left }));

async function read(kind) {
  const ids = JSON.parse(await calls.enumerate(kind, QUERY));
  return Promise.all(ids.map((id) => calls.query(kind, id, QUERY)));
}
