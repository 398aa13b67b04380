import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { portolanLb } from "./portolan-command.ts";
import { freePort, type ServiceProcess, startService } from "./service-process.ts";

/** What is compared. */
export type ProxyName = "portolan" | "other" | "haproxy" | "nginx" | "node";

export interface ProxySetting {
  /** Files of a proxy go here. */
  readonly folder: string;
  /** Of the servers behind it. */
  readonly serverPorts: readonly number[];
  /** Event loops, threads or worker processes. */
  readonly threads: number;
  /** Folder of another build of Portolan, to compare this one with. */
  readonly otherBuild?: string | undefined;
}

/** What a proxy is given beyond the setting: where it listens. */
interface Place extends ProxySetting {
  readonly port: number;
  /** For the bulk, where a proxy is set up otherwise for it. */
  readonly bulkPort: number;
}

/** A proxy that runs. */
export interface ProxyProcess extends ServiceProcess {
  /** Where bulk is to be sent; mostly the same port. */
  readonly bulkPort: number;
}

/** The command that starts each, after it has written its configuration. */
const COMMANDS: Readonly<Record<ProxyName, (place: Place) => readonly string[]>> = {
  portolan: (place) => lbCommand(place),
  other: (place) => lbCommand(place, place.otherBuild),
  haproxy: (place) => ["haproxy", "-db", "-f", written(place, "haproxy", haproxyConfig(place))],
  nginx: (place) => ["nginx", "-c", written(place, "nginx", nginxConfig(place))],
  node: ({ port, serverPorts }) => [
    process.execPath,
    fileURLToPath(new URL("./tasks/node-proxy.js", import.meta.url)),
    String(port),
    ...serverPorts.map(String),
  ],
};

/** What each is called in tables. */
export const PROXY_LABELS: Readonly<Record<ProxyName, string>> = {
  portolan: "Portolan",
  other: "other build",
  haproxy: "HAProxy",
  nginx: "nginx stream",
  node: "node:net",
};

export async function startProxy(name: ProxyName, setting: ProxySetting): Promise<ProxyProcess> {
  const port = await freePort();
  const bulkPort = name === "haproxy" ? await freePort() : port;
  const service = await startService(COMMANDS[name]({ ...setting, port, bulkPort }), port);
  return { ...service, bulkPort };
}

function lbCommand(place: Place, build?: string): readonly string[] {
  const servers = place.serverPorts.map((server) => `127.0.0.1:${server}`).join(",");
  return portolanLb({ ...place, build }, "--servers", servers);
}

function written({ folder, threads }: Place, name: string, config: string): string {
  const path = join(folder, `${name}-${threads}.conf`);
  writeFileSync(path, config);
  return path;
}

/**
 * HAProxy at its best for each load: splicing, which is off by default, doubles its bulk and costs a
 * tenth of its small requests. So it has a port with and one without.
 */
function haproxyConfig({ port, bulkPort, serverPorts, threads }: Place): string {
  const servers = serverPorts
    .map((server, index) => `  server s${index} 127.0.0.1:${server} check inter 5s`)
    .join("\n");
  return `
global
  maxconn 9500
  maxpipes 200
  nbthread ${threads}
defaults
  mode tcp
  timeout connect 5s
  timeout client 15m
  timeout server 15m
listen small
  bind 127.0.0.1:${port} backlog 8192
  balance roundrobin
${servers}
listen bulk
  bind 127.0.0.1:${bulkPort} backlog 8192
  balance roundrobin
  option splice-request
  option splice-response
${servers}
`;
}

function nginxConfig({ folder, port, serverPorts, threads }: Place): string {
  const servers = serverPorts.map((server) => `server 127.0.0.1:${server};`);
  return `
load_module modules/ngx_stream_module.so;
daemon off;
worker_processes ${threads};
worker_rlimit_nofile 20000;
pid ${join(folder, `nginx-${threads}.pid`)};
error_log ${join(folder, "nginx.log")} crit;
events { worker_connections 19500; }
stream {
  upstream lb { ${servers.join(" ")} }
  server {
    listen 127.0.0.1:${port} backlog=8192${threads > 1 ? " reuseport" : ""};
    proxy_pass lb;
    proxy_timeout 15m;
    tcp_nodelay on;
  }
}
`;
}
