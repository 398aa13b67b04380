/**
 * Runs on Windows (or Wine), with the stand-in: makes many calls of every kind, and tells what memory,
 * handles and texts came to as JSON.
 *
 *     node --expose-gc many-calls.mjs OUT.json CALLS
 */
import { writeFileSync } from "node:fs";
import koffi from "koffi";
import { openComputeNetwork } from "../../dist/platform/windows/compute-network.js";
import { computeNetworkPath } from "../../dist/platform/windows/system-dll.js";

const [outFile, callCount] = process.argv.slice(2);
const count = Number(callCount);
const NETWORK = "0f5f6e1c-0f5e-4d5c-9f0a-2b7e8f9d1c11";
const ID = "99999999-0000-4000-8000-000000000001";
const GONE = "99999999-0000-4000-8000-000000000002";
const QUERY = '{"SchemaVersion":{"Major":2,"Minor":0},"Flags":0}';
const json = JSON.stringify({ ID, Name: "x".repeat(4096) });
const calls = openComputeNetwork();
const silent = () => undefined;

/** One round leaves everything as it was. Each opens and closes what it needs. */
const ROUND = [
  () => calls.create("Endpoint", ID, json, NETWORK),
  () => calls.query("Endpoint", ID, QUERY),
  () => calls.create("LoadBalancer", ID, json),
  () => calls.modify("LoadBalancer", ID, json),
  () => calls.query("LoadBalancer", GONE, QUERY).catch(silent),
  () => calls.enumerate("LoadBalancer", QUERY),
  async () => (await calls.watch(silent))(),
  () => calls.version(),
  () => calls.delete("LoadBalancer", ID),
  () => calls.delete("Endpoint", ID),
];
const SAMPLES = 10;

const megabytes = [];
const disposed = koffi.stats().disposed;
for (let n = 0; n < count; n += 1) {
  await ROUND[n % ROUND.length]();
  if ((n + 1) % (count / SAMPLES) === 0) {
    globalThis.gc();
    megabytes.push(Math.round(process.memoryUsage().rss / 1e5) / 10);
  }
}
const freed = koffi.stats().disposed - disposed;
await new Promise(setImmediate);
const openHandles = koffi.load(computeNetworkPath()).func("int32_t __stdcall StandInOpenHandles()");
await calls.close();
writeFileSync(outFile, JSON.stringify({ megabytes, freed, handles: openHandles() }));
