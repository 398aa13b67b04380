import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Namespace, Started } from "./namespaces.ts";
import { LARGE_FILE, REQUESTS, SMALL_BODY } from "./traffic-loads.ts";
import { ON_ONE_PROCESSOR, SERVER_PORT } from "./traffic-site.ts";

/** Starts the web server that all ways lead to. @param folder for its files */
export function startWebServer(folder: string, server: Namespace): Started {
  const path = join(folder, "nginx.conf");
  writeFileSync(join(folder, LARGE_FILE), "x".repeat(REQUESTS.large.bodyBytes));
  writeFileSync(
    path,
    `daemon off; user root; worker_processes 1; pid ${join(folder, "nginx.pid")}; error_log ${join(folder, "nginx.log")};
events { worker_connections 4096; }
http { access_log off; keepalive_requests 100000000; server { listen ${SERVER_PORT} backlog=4096; location / { return 200 "${SMALL_BODY}"; } location /${LARGE_FILE} { root ${folder}; } } }
`,
  );
  const [program = "", ...args] = [...ON_ONE_PROCESSOR, "nginx", "-c", path];
  return server.start(program, ...args);
}
