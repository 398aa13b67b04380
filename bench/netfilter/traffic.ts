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
const BARE_CABLE = 3;
const CONNECTS = 1000;
const CONNECTIONS = 64;

export interface TrafficResult {
  /** Requests a second through the services, to those without any; for each round. */
  readonly keepAlive: readonly number[];
  readonly short: readonly number[];
  /** The same, to those through the one rule that no translation can do without. */
  readonly keepAliveToRule: readonly number[];
  readonly shortToRule: readonly number[];
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
 * One namespace calls a server through its services, another one through the one rule that it takes at
 * least, and a third one calls the same server and has no services at all; in turn.
 * @param program brings the services to the namespace that it is given
 */
export async function measureTraffic(
  folder: string,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
  program: (node: Namespace) => Promise<void>,
): Promise<TrafficResult> {
  const [server, node, plain, bare] = [
    Namespace.create(),
    Namespace.create(),
    Namespace.create(),
    Namespace.create(),
  ];
  const web = startWebServer(folder, server);
  try {
    join(node, server, { number: NODE_CABLE });
    join(plain, server, { number: PLAIN_CABLE });
    join(bare, server, { number: BARE_CABLE });
    bare.timeMs("nft", ["-f", "-"], BARE_RULE);
    await program(node);
    const through = `${TARGET_IP}:${TARGET_PORT}`;
    const direct = `${serverIp(PLAIN_CABLE)}:${SERVER_PORT}`;
    const ratesOf = (headers: readonly string[]) =>
      Array.from({ length: rounds }, () => {
        const services = requestRate(node, through, seconds, headers);
        const toPlain = services / requestRate(plain, direct, seconds, headers);
        return { toPlain, toRule: services / requestRate(bare, through, seconds, headers) };
      });
    const [keepAlive, short] = [ratesOf([]), ratesOf(["-H", "Connection: close"])];
    return {
      keepAlive: keepAlive.map(({ toPlain }) => toPlain),
      short: short.map(({ toPlain }) => toPlain),
      keepAliveToRule: keepAlive.map(({ toRule }) => toRule),
      shortToRule: short.map(({ toRule }) => toRule),
      connectMicroseconds: await connectTime(node, TARGET_IP, TARGET_PORT),
      plainMicroseconds: await connectTime(plain, serverIp(PLAIN_CABLE), SERVER_PORT),
    };
  } finally {
    web.stop();
    for (const namespace of [server, node, plain, bare]) namespace.remove();
  }
}

const BARE_RULE = `table ip bare {
  chain out {
    type nat hook output priority -100;
    ip daddr ${TARGET_IP} tcp dport ${TARGET_PORT} dnat to ${serverIp(BARE_CABLE)}:${SERVER_PORT}
  }
}
`;

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
