import { readSite } from "../../backends/userspace/files/read-site.ts";
import { checkUsable } from "../check-lb-files.ts";

/**
 * That a site can be read, before anything is started with it.
 * @throws CoreError ERR_CONFIG_INVALID
 */
export function checkWebRoot(path: string): Promise<void> {
  return checkUsable("--web-root", path, async () => void (await readSite(path)));
}
