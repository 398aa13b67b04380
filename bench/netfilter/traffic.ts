import { mkdtempSync, writeFileSync } from "node:fs";
import { join as joinPath } from "node:path";
import { findCgroupMount } from "../../src/platform/linux/cgroup-mount.ts";
import type { Manifest } from "../support/manifests.ts";
import { removeCgroupAtExit } from "../support/remove-at-exit.ts";
import { Namespace, type Started } from "./namespaces.ts";
import {
  type Caller,
  LARGE_BYTES,
  LARGE_PATH,
  type Load,
  ON_ONE_PROCESSOR,
  SERVER_PORT,
  type ServicesWay,
  Site,
  serverIp,
  TARGET_IP,
  TARGET_PORT,
  type Way,
} from "./traffic-site.ts";

const SERVICES_WAYS: readonly ServicesWay[] = ["services", "rules", "workloads", "fast"];
const WAYS: readonly Way[] = [...SERVICES_WAYS, "plain", "rule", "tracked"];

const TURN_SECONDS = 1;

interface Run {
  readonly caller: Caller;
  readonly load: Load;
  /** In this order: what is compared most stands side by side. */
  readonly ways: readonly Way[];
}

/** What is measured. Packets of a workload meet the rules unless it is asked for something else. */
const RUNS: readonly Run[] = [
  { caller: "node", load: "small", ways: ["plain", "services", "rules", "rule", "tracked"] },
  { caller: "node", load: "large", ways: ["plain", "services", "rules", "rule"] },
  {
    caller: "workload",
    load: "small",
    ways: ["plain", "services", "fast", "workloads", "rule", "tracked"],
  },
  { caller: "node", load: "short", ways: ["plain", "services", "rules"] },
];

/** Requests a second, each way that was measured, of one round. */
export type Rates = ReadonlyMap<Way, number>;

export interface TrafficResult {
  rates(caller: Caller, load: Load): readonly Rates[];
  /** Microseconds until a connection of the node itself stands. */
  connectMicroseconds(way: Way): Promise<number>;
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
 * Nodes with a workload each call the same server, each in its way; in short turns, there and back, so that
 * what disturbs the machine for a while disturbs all of them.
 * @param loads how often each is measured
 * @param program brings the services to the namespace that it is given, and keeps them there; it is told the
 *   cgroup of workloads that are led
 * @param tell what comes of it
 */
export async function measureTraffic<T>(
  folder: string,
  loads: number,
  program: (node: Namespace, way: ServicesWay, workloads: string) => Promise<Started>,
  tell: (result: TrafficResult) => Promise<T>,
): Promise<T> {
  const workloads = await createCgroup();
  const server = Namespace.create();
  const sites = new Map<Way, Site>();
  const web = startWebServer(folder, server);
  const daemons: Started[] = [];
  try {
    const isPossible = (way: Way) => way !== "workloads" || workloads !== undefined;
    for (const way of WAYS.filter(isPossible)) {
      sites.set(way, new Site(way, server, way === "workloads" ? workloads?.path : undefined));
    }
    for (const way of SERVICES_WAYS.filter(isPossible)) {
      daemons.push(await program(siteOf(sites, way).node, way, workloads?.path ?? ""));
    }
    const all = new Map<string, readonly Rates[]>();
    for (const { caller, load, ways } of RUNS) {
      const measured = Array.from({ length: loads }, (_, round) => {
        const possible = ways.filter(isPossible);
        const turns = round % 2 === 0 ? possible : possible.toReversed();
        const rate = (way: Way) => siteOf(sites, way).request(caller, load, TURN_SECONDS);
        return new Map(turns.map((way) => [way, rate(way)]));
      });
      all.set(`${caller} ${load}`, measured);
    }
    return await tell({
      rates: (caller, load) => all.get(`${caller} ${load}`) ?? [],
      connectMicroseconds: (way) => siteOf(sites, way).connectTime(),
    });
  } finally {
    web.stop();
    for (const daemon of daemons) daemon.stop();
    for (const site of sites.values()) site.remove();
    server.remove();
    workloads?.remove();
  }
}

/** For callers that are led, and nobody else; undefined where there are no cgroups of version 2. */
async function createCgroup(): Promise<{ readonly path: string; remove(): void } | undefined> {
  const mount = await findCgroupMount();
  if (mount === undefined) return undefined;
  const path = mkdtempSync(joinPath(mount, "portolan-bench-"));
  return { path, remove: removeCgroupAtExit(path) };
}

function siteOf(sites: ReadonlyMap<Way, Site>, way: Way): Site {
  const site = sites.get(way);
  if (site === undefined) throw new Error(`there is no node with ${way}`);
  return site;
}

function startWebServer(folder: string, server: Namespace): Started {
  const path = joinPath(folder, "nginx.conf");
  writeFileSync(joinPath(folder, LARGE_PATH), "x".repeat(LARGE_BYTES));
  writeFileSync(
    path,
    `daemon off; user root; worker_processes 1; pid ${joinPath(folder, "nginx.pid")}; error_log ${joinPath(folder, "nginx.log")};
events { worker_connections 4096; }
http { access_log off; keepalive_requests 100000000; server { listen ${SERVER_PORT} backlog=4096; location / { return 200 "small"; } location /${LARGE_PATH} { root ${folder}; } } }
`,
  );
  const [program = "", ...args] = [...ON_ONE_PROCESSOR, "nginx", "-c", path];
  return server.start(program, ...args);
}
