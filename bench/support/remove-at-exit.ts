import { spawn } from "node:child_process";
import { rmdirSync, rmSync } from "node:fs";

/**
 * Has a folder removed when this process ends, however it does: where it is killed, a shell that waits for the end of
 * its input does it. Returns what removes it now.
 */
export function removeAtExit(folder: string): () => void {
  return removing(folder, 'rm -rf -- "$1"', () => rmSync(folder, { recursive: true, force: true }));
}

/** The same for a cgroup: its files go with it, and can not be removed one by one. */
export function removeCgroupAtExit(folder: string): () => void {
  return removing(folder, 'rmdir -- "$1"', () => rmdirSync(folder));
}

function removing(folder: string, command: string, removeNow: () => void): () => void {
  const waiting = spawn("sh", ["-c", `cat >/dev/null; ${command}`, "sh", folder], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  // It must not keep this process alive.
  waiting.unref();
  const { stdin } = waiting;
  if ("unref" in stdin && typeof stdin.unref === "function") stdin.unref();
  return () => {
    removeNow();
    stdin.destroy();
  };
}
