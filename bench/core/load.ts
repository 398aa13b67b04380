/** `load FILE`: prints what it takes to get from the text of a state file to all operations of one node. */
import { NodeWatcher } from "../../src/core/view/node-watcher.ts";
import type { Op } from "../../src/core/view/ops.ts";
import { FULL_SIZE, nodeName } from "../support/cluster.ts";
import { createStoreFrom } from "../support/cluster-store.ts";
import { cpuMsOf } from "../support/measure.ts";
import { expectWhole } from "../support/node-state.ts";

const KILOBYTES_A_MEGABYTE = 1024;

const [path = ""] = process.argv.slice(2);
let ops: readonly Op[] | undefined;
const cpuMs = cpuMsOf(() => {
  ops = new NodeWatcher(createStoreFrom(path), nodeName(0), []).poll();
});
const peakMegabytes = process.resourceUsage().maxRSS / KILOBYTES_A_MEGABYTE;
expectWhole(ops, FULL_SIZE.services);
console.log(JSON.stringify({ cpuMs, peakMegabytes }));
