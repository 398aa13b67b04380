import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  besideHaproxy,
  type Contestant,
  type ContestLoad,
  haproxyConfig,
} from "./beside-haproxy.ts";
import type { Extra, ExtraOptions } from "./extra.ts";
import { LOADS, type Load, runLoad } from "./loads.ts";
import { portolanLb } from "./portolan-command.ts";
import { freePort, type ServiceProcess, startService } from "./service-process.ts";

const LIMIT = 0.5;

/** HTTP/1.1 understood by both, each telling the servers who asks; one loop and one thread. */
export function compareHttp1(options: ExtraOptions): Promise<Extra> {
  const loads = LOADS.filter(({ isBulk }) => !isBulk).map(inHttp);
  return besideHaproxy({ loads, limit: LIMIT, start: (name) => start(name, options) }, options);
}

function inHttp(load: Load): ContestLoad {
  return {
    name: `HTTP/1.1, ${load.name}`,
    unit: load.unit,
    run: async (port, options) => load.amount(await runLoad(load, port, options)),
  };
}

async function start(
  name: Contestant,
  { folder, serverPorts, otherBuild }: ExtraOptions,
): Promise<ServiceProcess> {
  const port = await freePort();
  const servers = serverPorts.map((server) => `127.0.0.1:${server}`);
  if (name !== "haproxy") {
    const build = name === "other" ? otherBuild : undefined;
    const args = ["--protocol", "http", "--servers", servers.join(",")];
    return startService(portolanLb({ port, build }, ...args), port);
  }
  const config = join(folder, "haproxy-http.conf");
  const bind = `127.0.0.1:${port} backlog 8192`;
  const lines = ["option forwardfor", "http-request set-header X-Forwarded-Proto http"];
  writeFileSync(config, haproxyConfig({ mode: "http", bind, servers, lines }));
  return startService(["haproxy", "-db", "-f", config], port);
}
