import { rm } from "node:fs/promises";
import type { KeptFile } from "../control/world.ts";
import { Turns } from "../core/turns.ts";
import { keepPrivateFile } from "./private-files.ts";

/** Private files that came with commands. One goes when its command is over and nothing came to use it. */
export class KeptFiles {
  readonly #folder: string;
  readonly #isUsed: (path: string) => boolean;
  /** Commands under way by the path of their file: equal texts share one. */
  readonly #users = new Map<string, number>();
  readonly #turns = new Turns();

  constructor(folder: string, isUsed: (path: string) => boolean) {
    this.#folder = folder;
    this.#isUsed = isUsed;
  }

  keep(name: string, text: string): Promise<KeptFile> {
    return this.#turns.take(async () => {
      const path = await keepPrivateFile(this.#folder, name, text);
      this.#users.set(path, (this.#users.get(path) ?? 0) + 1);
      return { path, release: () => this.#turns.take(() => this.#release(path)) };
    });
  }

  async #release(path: string): Promise<void> {
    const users = (this.#users.get(path) ?? 1) - 1;
    if (users > 0) {
      this.#users.set(path, users);
      return;
    }
    this.#users.delete(path);
    if (!this.#isUsed(path)) await rm(path, { force: true });
  }
}
