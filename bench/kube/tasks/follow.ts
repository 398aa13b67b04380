/** `follow URL [NODE]`: follows a cluster as an instance does, and tells its parent what that costs. */
import { setTimeout as wait } from "node:timers/promises";
import { pump } from "../../../src/core/sinks/pump.ts";
import type { Sink } from "../../../src/core/sinks/sink.ts";
import { StatusBoard } from "../../../src/core/status/status-board.ts";
import { GlobalStore } from "../../../src/core/store/global-store.ts";
import { NodeWatcher } from "../../../src/core/view/node-watcher.ts";
import type { Op } from "../../../src/core/view/ops.ts";
import { createPlainCredentials } from "../../../src/engines/kubernetes/credentials.ts";
import { createKubeSource } from "../../../src/sources/kube/kube-source.ts";
import { nodeName } from "../../support/cluster.ts";
import {
  type Costs,
  type FollowerReply,
  followerOrderSchema,
  nowMs,
  POD_PREFIX,
} from "../messages.ts";

const KILOBYTES_A_MEGABYTE = 1024;
const MICROSECONDS_A_MILLISECOND = 1000;

const [url = "", node] = process.argv.slice(2);
const silent = (): void => undefined;
const log = { debug: silent, info: silent, warn: silent, error: silent };
const world = {
  random: () => Math.random(),
  sleep: async (ms: number, signal: AbortSignal) => {
    await wait(ms, undefined, { signal });
  },
};

let cpu = process.cpuUsage();
let sinceMs = nowMs();
let ops = 0;
let latenciesMs: number[] = [];
let isSynced = false;

const store = new GlobalStore();
const source = createKubeSource({
  ...world,
  owner: "kube",
  proxyName: "",
  node,
  kept: {
    serviceLabels: [],
    serviceAnnotations: ["*portolan*"],
    nodeLabels: ["kubernetes.io/hostname", "topology.kubernetes.io/*"],
    nodeAnnotations: [],
  },
  connect: async () => ({
    name: "bench",
    servers: [new URL(url)],
    ca: undefined,
    serverName: undefined,
    isInsecure: false,
    credentials: createPlainCredentials({}),
  }),
});

const sink: Sink = {
  setup: silent,
  waitRequest: () => ({ nodeName: nodeName(0), sets: ["nodes"] }),
  reset: silent,
  send: (op) => {
    if (op.op === "sync") synced();
    else count(op);
  },
};

function count(op: Op): void {
  ops += 1;
  if (op.op !== "set" || op.set !== "endpoints") return;
  const { podName } = op.value.endpoint;
  if (podName.startsWith(POD_PREFIX)) {
    latenciesMs.push(nowMs() - Number(podName.slice(POD_PREFIX.length)));
  }
}

function synced(): void {
  if (isSynced) return;
  isSynced = true;
  const peakMegabytes = process.resourceUsage().maxRSS / KILOBYTES_A_MEGABYTE;
  tell({ is: "synced", peakMegabytes, ...costs() });
}

function costs(): Costs {
  const { user, system } = process.cpuUsage(cpu);
  return { cpuMs: (user + system) / MICROSECONDS_A_MILLISECOND, elapsedMs: nowMs() - sinceMs, ops };
}

function tell(reply: FollowerReply): void {
  process.send?.(reply);
}

process.on("disconnect", () => process.exit());
process.on("message", (raw) => {
  if (followerOrderSchema.parse(raw).do === "read") {
    tell({ is: "counted", latenciesMs, ...costs() });
    return;
  }
  cpu = process.cpuUsage();
  sinceMs = nowMs();
  ops = 0;
  latenciesMs = [];
  tell({ is: "marked" });
});

const ended = new AbortController();
const report = new StatusBoard({ now: () => Date.now() }).add("sync", "bench");
void pump(
  {
    ...world,
    name: "bench",
    sink,
    log,
    report,
    open: ({ nodeName: name, sets }) => new NodeWatcher(store, name, sets),
  },
  ended.signal,
);
await source.start(store, { ok: silent, failed: (error) => console.error(error.message) });
