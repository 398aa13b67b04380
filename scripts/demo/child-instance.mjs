import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ROOT } from "../lib/command.mjs";
import { loadClient } from "./built.mjs";

const INSTANCE = fileURLToPath(new URL("./instance.mjs", import.meta.url));
const LOOK_AGAIN_MS = 100;

/** `portolan up` as a child process. */
export class ChildInstance {
  #child;
  #ended;

  /** @param {readonly string[]} args of `portolan` */
  constructor(args) {
    this.#child = spawn(process.execPath, [INSTANCE, ...args], {
      cwd: ROOT,
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      detached: process.platform !== "win32",
      windowsHide: true,
    });
    this.#ended = once(this.#child, "exit").then(([code, signal]) => signal ?? code);
  }

  /** @returns {Promise<number | NodeJS.Signals>} how it ended */
  get ended() {
    return this.#ended;
  }

  /** Asks it to end; asked a second time, it ends at once. */
  stop() {
    this.#child.kill("SIGTERM");
  }

  /**
   * Waits until it is well and all servers that it knows are up.
   * @param {string} state its folder
   * @param {AbortSignal} signal gives up
   * @returns {Promise<boolean>} false where it ended, or was given up
   */
  async waitUntilReady(state, signal) {
    const { callInstance } = await loadClient();
    let hasEnded = false;
    void this.#ended.then(() => {
      hasEnded = true;
    });
    while (!hasEnded && !signal.aborted) {
      const status = await callInstance(join(state, "instance.sock"), "status", {}).catch(
        () => undefined,
      );
      const servers = status?.groups.flatMap((group) => group.servers) ?? [];
      const isOurs = status?.pid === this.#child.pid && servers.length > 0;
      if (isOurs && status?.ready && servers.every(({ health }) => health === "up")) return true;
      await delay(LOOK_AGAIN_MS);
    }
    return false;
  }
}
