import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ServiceProcess, startService } from "../lb/service-process.ts";

/** `portolan up` as it is shipped, with the HTTP API alone. */
export function startUp(folder: string, apiPort: number): Promise<ServiceProcess> {
  const main = fileURLToPath(new URL("../../../../dist/cli/main.js", import.meta.url));
  const off = ["--resp-listen", "off", "--metrics-listen", "off", "--health-listen", "off"];
  const own = ["--state", join(folder, "state"), "--http-listen", `127.0.0.1:${apiPort}`];
  return startService([process.execPath, main, "up", ...own, ...off], apiPort);
}
