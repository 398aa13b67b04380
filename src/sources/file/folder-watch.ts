import { type FSWatcher, watch } from "node:fs";
import { stat } from "node:fs/promises";

/** Writers do several things at once: how long after the first of them it is time to look. */
const SETTLE_MS = 50;

export interface FolderWatchOptions {
  readonly folder: string;
  /** How often it looks by itself, for what the system does not tell (network folders, link targets). */
  readonly pollMs: number;
  readonly notify: () => void;
}

/**
 * Tells when anything in a folder may have changed: files written, replaced by rename, added, removed.
 * Also when nothing changed: whoever is told compares.
 */
export class FolderWatch {
  readonly #folder: string;
  readonly #notify: () => void;
  readonly #poll: NodeJS.Timeout;
  #settle: NodeJS.Timeout | undefined;
  #watcher: FSWatcher | undefined;
  /** The folder that is watched; a new one may take its name. */
  #inode = 0n;
  #closed = false;

  /** Resolves once no change can be missed any more. */
  static async open(options: FolderWatchOptions): Promise<FolderWatch> {
    const opened = new FolderWatch(options);
    await opened.#follow();
    return opened;
  }

  private constructor({ folder, pollMs, notify }: FolderWatchOptions) {
    this.#folder = folder;
    this.#notify = notify;
    this.#poll = setInterval(() => this.#look(), pollMs);
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#poll);
    clearTimeout(this.#settle);
    this.#watcher?.close();
  }

  /** Notifies in a moment, once for all that happens until then. */
  settle(): void {
    if (this.#closed) return;
    this.#settle ??= setTimeout(() => {
      this.#settle = undefined;
      this.#look();
    }, SETTLE_MS);
  }

  #look(): void {
    void this.#follow();
    this.#notify();
  }

  /** Watches the folder that has the name now. Where that can not be, the polling goes on. */
  async #follow(): Promise<void> {
    const stats = await stat(this.#folder, { bigint: true }).catch(() => undefined);
    const inode = stats?.ino ?? 0n;
    if (this.#closed || inode === this.#inode) return;
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#inode = 0n;
    if (stats === undefined) return;
    try {
      this.#watcher = watch(this.#folder, () => this.settle());
      this.#watcher.on("error", () => this.settle());
      this.#inode = inode;
    } catch {
      // No watches left on this system, or the folder is gone again: polling it is.
    }
  }
}
