/**
 * A Kubernetes cluster as the source: from the connection to the first sync, changes while it runs, and
 * how much of what a cluster tells comes down to a node. The API server is that of the tests, in a
 * process of its own.
 *
 *     npm run bench -- kube [--json]
 */
import {
  type ClusterReply,
  clusterReplySchema,
  type FollowerReply,
  followerReplySchema,
} from "./kube/messages.ts";
import { Talk } from "./kube/talk.ts";
import { nodeName } from "./support/cluster.ts";
import { median } from "./support/measure.ts";
import { type Figure, isMet, renderJson, renderTable } from "./support/report.ts";

const SERVICES = 5000;
const ENDPOINTS = 10;
const NODES = 1000;
const CHANGES_PER_SECOND = 100;
const CHANGES = 2000;
/** As KPNG's authors counted them: 130,942 events of the API came to 1,218 changes of a node. */
const DAY = { events: 130_942, changes: 1218 };
const PERCENT = 100;

const task = (name: string): URL => new URL(`./kube/tasks/${name}.js`, import.meta.url);

async function measure(): Promise<readonly Figure[]> {
  const size = [SERVICES, ENDPOINTS, NODES].map(String);
  const cluster = new Talk<ClusterReply>(task("cluster"), size, clusterReplySchema);
  try {
    const { url } = await cluster.next("listening");
    return [...(await measureNode(cluster, url)), ...(await measureDay(cluster, url))];
  } finally {
    cluster.close();
  }
}

async function measureNode(cluster: Talk<ClusterReply>, url: string): Promise<readonly Figure[]> {
  console.error("kube: first sync");
  const node = new Talk<FollowerReply>(task("follow"), [url, nodeName(0)], followerReplySchema);
  try {
    const first = await node.next("synced");
    console.error(`kube: ${CHANGES} changes, ${CHANGES_PER_SECOND} a second`);
    node.send({ do: "mark" });
    await node.next("marked");
    cluster.send({ do: "change", count: CHANGES, perSecond: CHANGES_PER_SECOND });
    await cluster.next("done");
    node.send({ do: "read" });
    const { cpuMs, elapsedMs, latenciesMs } = await node.next("counted");
    return [
      figure(
        `${SERVICES} services, ${SERVICES * ENDPOINTS} endpoints: to the first sync`,
        first.cpuMs / 1000,
        "s CPU",
        5,
      ),
      figure("  from the connection on", first.elapsedMs / 1000, "s"),
      figure("  peak memory", first.peakMegabytes, "MB", 500),
      figure(
        `${CHANGES_PER_SECOND} endpoint changes a second`,
        (cpuMs / elapsedMs) * PERCENT,
        "% of a core",
        10,
      ),
      figure("  event to operation at the sink, median", median(latenciesMs), "ms", 5),
      figure("  of 100, the slowest but one", percentile(latenciesMs, 0.99), "ms"),
    ];
  } finally {
    node.close();
  }
}

/** With all nodes followed, as a brain does. */
async function measureDay(cluster: Talk<ClusterReply>, url: string): Promise<readonly Figure[]> {
  console.error(`kube: a day of ${DAY.events} events`);
  const node = new Talk<FollowerReply>(task("follow"), [url], followerReplySchema);
  try {
    await node.next("synced");
    node.send({ do: "mark" });
    await node.next("marked");
    cluster.send({ do: "day", ...DAY });
    await cluster.next("done");
    node.send({ do: "read" });
    const { ops, cpuMs } = await node.next("counted");
    return [
      figure(
        `of ${DAY.events} events, changes that came to a node`,
        ops,
        "operations",
        2 * DAY.changes,
      ),
      figure("  events for each of them", DAY.events / Math.max(1, ops), "times"),
      figure("  an event", (cpuMs * 1000) / DAY.events, "µs CPU"),
    ];
  } finally {
    node.close();
  }
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * share)] ?? 0;
}

function figure(name: string, value: number, unit: string, limit?: number): Figure {
  return { name, value, unit, limit };
}

const figures = await measure();
console.log(process.argv.includes("--json") ? renderJson(figures) : renderTable(figures));
if (!figures.every(isMet)) process.exitCode = 1;
