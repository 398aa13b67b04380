import { spawn } from "node:child_process";
import { rmSync } from "node:fs";

/**
 * Has a folder removed when this process ends, however it does: where it is killed, a shell that waits for the end of
 * its input does it. Returns what removes it now.
 */
export function removeAtExit(folder: string): () => void {
  const script = 'cat >/dev/null; rm -rf -- "$1"';
  const waiting = spawn("sh", ["-c", script, "sh", folder], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  // It must not keep this process alive.
  waiting.unref();
  const { stdin } = waiting;
  if ("unref" in stdin && typeof stdin.unref === "function") stdin.unref();
  return () => {
    rmSync(folder, { recursive: true, force: true });
    stdin.destroy();
  };
}
