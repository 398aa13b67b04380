import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, type ServiceProcess, startService } from "./service-process.ts";

const BULK_BYTES = 16_777_216;
const SMALL_TEXT = "x".repeat(100);

/** What the proxies send to: nginx on two ports, which answers faster than any proxy passes on. */
export interface HttpServers extends ServiceProcess {
  readonly ports: readonly number[];
}

export async function startHttpServers(folder: string): Promise<HttpServers> {
  const ports = [await freePort(), await freePort()];
  writeFileSync(join(folder, "bulk"), Buffer.alloc(BULK_BYTES, "portolan"));
  const config = join(folder, "servers.conf");
  writeFileSync(config, configOf(folder, ports));
  const [first = 0] = ports;
  return { ...(await startService(["nginx", "-c", config], first)), ports };
}

function configOf(folder: string, ports: readonly number[]): string {
  return `
daemon off;
worker_processes 1;
worker_rlimit_nofile 20000;
pid ${join(folder, "servers.pid")};
error_log ${join(folder, "servers.log")} crit;
events { worker_connections 15000; }
http {
  access_log off;
  default_type application/octet-stream;
  sendfile on;
  tcp_nopush on;
  keepalive_timeout 1h;
  keepalive_requests 1000000000;
  server {
    ${ports.map((port) => `listen 127.0.0.1:${port} backlog=8192;`).join("\n    ")}
    root ${folder};
    location /small { return 200 "${SMALL_TEXT}"; }
  }
}
`;
}
