/** `change FILE`: prints the median CPU time of one endpoint's change, from the store to a sink, in µs. */
import type { Sink } from "../../src/core/sinks/sink.ts";
import { NodeWatcher } from "../../src/core/view/node-watcher.ts";
import { nodeName } from "../support/cluster.ts";
import { createStoreFrom } from "../support/cluster-store.ts";
import { EndpointChanges } from "../support/endpoint-changes.ts";
import { cpuMsOf, median } from "../support/measure.ts";
import { expectOnly } from "../support/node-state.ts";

const WARM_UP = 2000;
const ROUNDS = 5000;
const MICROSECONDS_A_MILLISECOND = 1000;

const [path = ""] = process.argv.slice(2);
const store = createStoreFrom(path);
const watcher = new NodeWatcher(store, nodeName(0), []);
const changes = new EndpointChanges(store, watcher.poll() ?? [], () => true);
const sink = createCountingSink();

for (let round = 0; round < WARM_UP; round += 1) changeOnce();
const times = Array.from({ length: ROUNDS }, changeOnce);
const expected = 2 * (WARM_UP + ROUNDS);
if (sink.count() !== expected) throw new Error(`${sink.count()} ops instead of ${expected}`);
console.log(JSON.stringify(median(times) * MICROSECONDS_A_MILLISECOND));

function changeOnce(): number {
  const { path, commit } = changes.next();
  let ops: ReturnType<NodeWatcher["poll"]>;
  const time = cpuMsOf(() => {
    commit();
    ops = watcher.poll();
    for (const op of ops ?? []) if (op.op !== "reset") sink.send(op);
  });
  expectOnly(ops, path);
  return time;
}

function createCountingSink(): Sink & { count(): number } {
  let count = 0;
  return {
    setup: () => undefined,
    waitRequest: () => ({ nodeName: nodeName(0), sets: [] }),
    reset: () => undefined,
    send: () => {
      count += 1;
    },
    count: () => count,
  };
}
