import { writeFileSync } from "node:fs";
import { join as joinPath } from "node:path";
import type { Manifest } from "../support/manifests.ts";
import { numberFrom } from "../support/results.ts";
import { join, Namespace } from "./namespaces.ts";

/** The service that traffic goes to, beside all others. */
const TARGET_IP = "10.99.255.1";
const TARGET_PORT = 80;
const SERVER_PORT = 8080;
/** The address of the servers' end of the cable from the node; the other caller has one of its own. */
const NODE_CABLE = 1;
const PLAIN_CABLE = 2;
const CONNECTS = 1000;
const CONNECTIONS = 64;

export interface TrafficResult {
  /** Requests a second through the services, to those without any; for each round. */
  readonly keepAlive: readonly number[];
  readonly short: readonly number[];
  /** Microseconds until a connection stands, through the services and without. */
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
      endpoints: [{ addresses: [serverIp(NODE_CABLE)], conditions: { ready: true } }],
    },
  ];
}

/**
 * One namespace calls a server through its services, another one calls the same server and has no
 * services at all; in turn.
 * @param program brings the services to the namespace that it is given
 */
export async function measureTraffic(
  folder: string,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
  program: (node: Namespace) => Promise<void>,
): Promise<TrafficResult> {
  const server = Namespace.create();
  const node = Namespace.create();
  const plain = Namespace.create();
  const web = startWebServer(folder, server);
  try {
    join(node, server, { number: NODE_CABLE });
    join(plain, server, { number: PLAIN_CABLE });
    await program(node);
    const through = `${TARGET_IP}:${TARGET_PORT}`;
    const direct = `${serverIp(PLAIN_CABLE)}:${SERVER_PORT}`;
    const ratiosOf = (headers: readonly string[]): readonly number[] =>
      Array.from({ length: rounds }, () => {
        const services = requestRate(node, through, seconds, headers);
        return services / requestRate(plain, direct, seconds, headers);
      });
    return {
      keepAlive: ratiosOf([]),
      short: ratiosOf(["-H", "Connection: close"]),
      connectMicroseconds: await connectTime(node, TARGET_IP, TARGET_PORT),
      plainMicroseconds: await connectTime(plain, serverIp(PLAIN_CABLE), SERVER_PORT),
    };
  } finally {
    web.stop();
    for (const namespace of [server, node, plain]) namespace.remove();
  }
}

function serverIp(cable: number): string {
  return `10.250.${cable}.2`;
}

function startWebServer(folder: string, server: Namespace): { stop(): void } {
  const path = joinPath(folder, "nginx.conf");
  writeFileSync(
    path,
    `daemon off; worker_processes 1; pid ${joinPath(folder, "nginx.pid")}; error_log ${joinPath(folder, "nginx.log")};
events { worker_connections 4096; }
http { access_log off; keepalive_requests 100000000; server { listen ${SERVER_PORT} backlog=4096; location / { return 200 "small"; } } }
`,
  );
  return server.start("nginx", "-c", path);
}

function requestRate(
  from: Namespace,
  target: string,
  seconds: number,
  headers: readonly string[],
): number {
  const args = ["-t1", `-c${CONNECTIONS}`, `-d${seconds}s`, ...headers, `http://${target}/`];
  const output = from.run("wrk", ...args);
  const [, rate] = /Requests\/sec:\s+([\d.]+)/.exec(output) ?? [];
  if (rate === undefined || /Non-2xx|Socket errors/.test(output)) {
    throw new Error(`wrk to ${target} failed:\n${output}`);
  }
  return Number(rate);
}

async function connectTime(from: Namespace, ip: string, port: number): Promise<number> {
  const task = new URL("./tasks/connect-times.js", import.meta.url);
  return numberFrom(await from.runTask(task, [ip, String(port), String(CONNECTS)]));
}
