import { readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { KeptFile } from "../control/world.ts";
import { Turns } from "../core/turns.ts";
import { isKeptName, keepPrivateFile } from "./private-files.ts";

export interface KeptFilesOptions {
  readonly folder: string;
  /** The paths of all files that something uses; undefined where that is not to be told now. */
  readonly used: () => readonly string[] | undefined;
  /** Texts whose files stay, too: journals that were put aside. */
  readonly asides: () => Promise<readonly string[]>;
}

/** Private files that came with commands. One goes when its command is over and nothing uses it any more. */
export class KeptFiles {
  readonly #options: KeptFilesOptions;
  /** Commands under way by the path of their file: equal texts share one. */
  readonly #users = new Map<string, number>();
  readonly #turns = new Turns();

  constructor(options: KeptFilesOptions) {
    this.#options = options;
  }

  keep(name: string, text: string): Promise<KeptFile> {
    return this.#turns.take(async () => {
      const path = await keepPrivateFile(this.#options.folder, name, text);
      this.#users.set(path, (this.#users.get(path) ?? 0) + 1);
      return { path, release: () => this.#turns.take(() => this.#release(path)) };
    });
  }

  /** Removes those that nothing uses: what they were for was replaced or removed, or the process had ended. */
  sweep(): Promise<void> {
    return this.#turns.take(async () => {
      const { folder } = this.#options;
      const names = await readdir(folder).catch(() => []);
      await this.#removeUnused(names.filter(isKeptName).map((name) => join(folder, name)));
    });
  }

  async #release(path: string): Promise<void> {
    const users = (this.#users.get(path) ?? 1) - 1;
    if (users > 0) {
      this.#users.set(path, users);
      return;
    }
    this.#users.delete(path);
    await this.#removeUnused([path]);
  }

  async #removeUnused(paths: readonly string[]): Promise<void> {
    const used = this.#options.used();
    if (used === undefined) return;
    // By name: the way to the folder can be written in more than one way.
    const names = new Set(used.map((path) => basename(path)));
    const unused = paths.filter((path) => !this.#users.has(path) && !names.has(basename(path)));
    if (unused.length === 0) return;
    // Rather one that stays too long than one that is missed.
    const asides = await this.#options.asides().catch(() => undefined);
    if (asides === undefined) return;
    for (const path of unused) {
      const isAside = asides.some((text) => text.includes(basename(path)));
      if (!isAside) await rm(path, { force: true });
    }
  }
}
