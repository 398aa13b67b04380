import { fileURLToPath } from "node:url";

/** `portolan lb` as it is shipped, on one loop. */
export function portolanLb(port: number, ...args: readonly string[]): readonly string[] {
  const main = fileURLToPath(new URL("../../../../dist/cli/main.js", import.meta.url));
  return [process.execPath, main, "lb", "--listen", `127.0.0.1:${port}`, "--loops", "1", ...args];
}
