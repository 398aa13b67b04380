import { readFileSync, writeFileSync } from "node:fs";
import { join as joinPath } from "node:path";
import type { Manifest } from "../support/manifests.ts";
import { Namespace, type Started } from "./namespaces.ts";
import {
  type Caller,
  LARGE_BYTES,
  LARGE_PATH,
  type Load,
  SERVER_PORT,
  Site,
  serverIp,
  TARGET_IP,
  TARGET_PORT,
  type Way,
} from "./traffic-site.ts";

const WAYS: readonly Way[] = ["services", "plain", "rule", "tracked"];

const MICROSECONDS_A_SECOND = 1e6;
const NANOSECONDS_A_SECOND = 1e9;

/** What is measured: who calls, and how. */
const RUNS: readonly (readonly [Caller, Load])[] = [
  ["node", "small"],
  ["node", "large"],
  ["workload", "small"],
  ["node", "short"],
];

export interface Rate {
  readonly perSecond: number;
  /** Of client and server together, with the kernel's work for them, for one request. */
  readonly cpuMicroseconds: number;
}

/** Requests, each way, of one round. */
export type Rates = Readonly<Record<Way, Rate>>;

export interface TrafficResult {
  rates(caller: Caller, load: Load): readonly Rates[];
  /** Microseconds until a connection of the node itself stands, through the services and without. */
  readonly connectMicroseconds: number;
  readonly plainMicroseconds: number;
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
 * Nodes with a workload each call the same server, each in its way; in turns, so that what disturbs
 * the machine for a while disturbs all of them.
 * @param program brings the services to the namespace that it is given
 */
export async function measureTraffic(
  folder: string,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
  program: (node: Namespace) => Promise<void>,
): Promise<TrafficResult> {
  const server = Namespace.create();
  const sites = new Map<Way, Site>();
  const web = startWebServer(folder, server);
  try {
    for (const way of WAYS) sites.set(way, new Site(way, server));
    await program(siteOf(sites, "services").node);
    const all = new Map<string, readonly Rates[]>();
    for (const [caller, load] of RUNS) {
      const measured = Array.from({ length: rounds }, () => {
        const rate = (way: Way): Rate => {
          const before = cpuSecondsOf(web);
          const made = siteOf(sites, way).request(caller, load, seconds);
          const cpuSeconds = made.clientCpuSeconds + cpuSecondsOf(web) - before;
          const cpuMicroseconds = (cpuSeconds * MICROSECONDS_A_SECOND) / made.count;
          return { perSecond: made.perSecond, cpuMicroseconds };
        };
        // In this order: what is compared most stands side by side.
        const [plain, services, rule] = [rate("plain"), rate("services"), rate("rule")];
        return { plain, services, rule, tracked: rate("tracked") };
      });
      all.set(`${caller} ${load}`, measured);
    }
    return {
      rates: (caller, load) => all.get(`${caller} ${load}`) ?? [],
      connectMicroseconds: await siteOf(sites, "services").connectTime(),
      plainMicroseconds: await siteOf(sites, "plain").connectTime(),
    };
  } finally {
    web.stop();
    for (const site of sites.values()) site.remove();
    server.remove();
  }
}

function siteOf(sites: ReadonlyMap<Way, Site>, way: Way): Site {
  const site = sites.get(way);
  if (site === undefined) throw new Error(`there is no node with ${way}`);
  return site;
}

/** What the workers of a server used so far. */
function cpuSecondsOf({ pid }: Started): number {
  const workers = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  return workers.reduce((sum, worker) => {
    const [nanoseconds] = readFileSync(`/proc/${worker}/schedstat`, "utf8").split(" ");
    return sum + Number(nanoseconds) / NANOSECONDS_A_SECOND;
  }, 0);
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
  return server.start("nginx", "-c", path);
}
