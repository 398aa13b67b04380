import type { Manifest } from "../support/manifests.ts";
import { cpuSecondsOf, residentBytesOf } from "../support/process-tree.ts";
import { Namespace, type Started } from "./namespaces.ts";
import type { RoundTimes } from "./round-times.ts";
import { type Route, TurnTaker } from "./take-turns.ts";
import { type CallerCgroups, createCallerCgroups } from "./traffic-cgroup.ts";
import { type Load, REQUESTS } from "./traffic-loads.ts";
import { startWebServer } from "./traffic-server.ts";
import {
  type Caller,
  SERVER_PORT,
  type ServedWay,
  Site,
  serverIp,
  TARGET_IP,
  TARGET_PORT,
  type Way,
} from "./traffic-site.ts";

const SERVED_WAYS: readonly ServedWay[] = ["services", "rules", "workloads", "kube-proxy"];
const WAYS: readonly Way[] = [...SERVED_WAYS, "plain", "again", "rule", "tracked"];
const MS_A_SECOND = 1000;
const BYTES_A_MEGABYTE = 1_048_576;

interface Run {
  readonly caller: Caller;
  readonly load: Load;
  readonly ways: readonly Way[];
}

/** What is measured. What workloads call comes last: programs that it brings to links stay there for a while. */
const RUNS: readonly Run[] = [
  {
    caller: "node",
    load: "small",
    ways: ["plain", "again", "services", "rules", "kube-proxy", "rule", "tracked"],
  },
  {
    caller: "node",
    load: "large",
    ways: ["plain", "again", "services", "rules", "kube-proxy", "rule"],
  },
  { caller: "node", load: "short", ways: ["plain", "again", "services", "rules", "kube-proxy"] },
  {
    caller: "workload",
    load: "small",
    ways: ["plain", "again", "services", "rules", "workloads", "kube-proxy", "rule", "tracked"],
  },
];

/** What the process that keeps the services takes while traffic flows, through its node and others. */
interface ProcessCost {
  readonly residentMegabytes: number;
  /** Of one processor. */
  readonly cpuPercent: number;
}

export interface TrafficResult {
  rounds(caller: Caller, load: Load): readonly RoundTimes<Way>[];
  readonly process: ProcessCost;
  /** Microseconds until a connection of the node itself stands; undefined where that way was not there. */
  connectMicroseconds(way: Way): Promise<number | undefined>;
}

export interface TrafficOptions {
  /** For files that end with the benchmark. */
  readonly folder: string;
  readonly warmUpRounds: number;
  readonly rounds: number;
  readonly hasKubeProxy: boolean;
  /**
   * Brings the services to the namespace that it is given, and keeps them there; it is told the cgroup of
   * workloads that are led.
   */
  serve(node: Namespace, way: ServedWay, led: string): Promise<Started>;
}

/** A service whose endpoint is the server of this benchmark. */
export function targetManifests(): readonly Manifest[] {
  const metadata = { namespace: "bench", name: "target" };
  return [
    {
      apiVersion: "v1",
      kind: "Service",
      metadata,
      spec: {
        type: "ClusterIP",
        clusterIP: TARGET_IP,
        clusterIPs: [TARGET_IP],
        ports: [{ name: "http", protocol: "TCP", port: TARGET_PORT, targetPort: SERVER_PORT }],
      },
    },
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { ...metadata, labels: { "kubernetes.io/service-name": metadata.name } },
      addressType: "IPv4",
      ports: [{ name: "http", protocol: "TCP", port: SERVER_PORT }],
      endpoints: [{ addresses: [serverIp("services")], conditions: { ready: true } }],
    },
  ];
}

/**
 * Nodes with a workload each call the same server, each in its way.
 * @param tell what comes of it
 */
export async function measureTraffic<T>(
  options: TrafficOptions,
  tell: (result: TrafficResult) => Promise<T>,
): Promise<T> {
  const { folder, warmUpRounds, rounds } = options;
  const turnTaker = new TurnTaker(folder);
  const cgroups = await createCallerCgroups();
  const server = Namespace.create();
  const sites = new Map<Way, Site>();
  const web = startWebServer(folder, server);
  const daemons = new Map<ServedWay, Started>();
  const missing: ReadonlySet<Way> = new Set([
    ...(cgroups === undefined ? (["workloads"] as const) : []),
    ...(options.hasKubeProxy ? [] : (["kube-proxy"] as const)),
  ]);
  const isPossible = (way: Way) => !missing.has(way);
  try {
    for (const way of WAYS.filter(isPossible)) sites.set(way, new Site(way, server));
    for (const way of SERVED_WAYS.filter(isPossible)) {
      daemons.set(way, await options.serve(found(sites, way).node, way, cgroups?.led ?? ""));
    }
    const all = new Map<string, readonly RoundTimes<Way>[]>();
    const cost = await costOf(found(daemons, "services").pid, async () => {
      for (const { caller, load, ways } of RUNS) {
        const possible = ways.filter(isPossible);
        const routes = possible.map((way) => routeOf(found(sites, way), caller, way, cgroups));
        const turns = { request: REQUESTS[load], warmUpRounds, rounds, routes };
        all.set(`${caller} ${load}`, await turnTaker.run(turns));
      }
    });
    return await tell({
      rounds: (caller, load) => all.get(`${caller} ${load}`) ?? [],
      process: cost,
      connectMicroseconds: async (way) => sites.get(way)?.connectTime(),
    });
  } finally {
    web.stop();
    for (const daemon of daemons.values()) daemon.stop();
    for (const site of sites.values()) site.remove();
    server.remove();
    cgroups?.remove();
  }
}

function routeOf(
  site: Site,
  caller: Caller,
  way: Way,
  cgroups: CallerCgroups | undefined,
): Route<Way> {
  const cgroup = way === "workloads" ? cgroups?.led : cgroups?.own;
  const { ip, port } = site;
  return { way, namespace: site.namespaceOf(caller), ip, port, cgroup: cgroup ?? "" };
}

/** What a process takes while something is done. */
async function costOf(pid: number, work: () => Promise<void>): Promise<ProcessCost> {
  const [startMs, cpuBefore] = [performance.now(), cpuSecondsOf(pid)];
  await work();
  const seconds = (performance.now() - startMs) / MS_A_SECOND;
  return {
    residentMegabytes: residentBytesOf(pid) / BYTES_A_MEGABYTE,
    cpuPercent: ((cpuSecondsOf(pid) - cpuBefore) / seconds) * 100,
  };
}

function found<K extends Way, V>(ways: ReadonlyMap<K, V>, way: K): V {
  const value = ways.get(way);
  if (value === undefined) throw new Error(`there is no node with ${way}`);
  return value;
}
