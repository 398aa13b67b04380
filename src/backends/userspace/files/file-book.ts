import { stat } from "node:fs/promises";
import { messageOf } from "../../../core/errors.ts";
import { readRegularFile } from "../../../platform/read-regular-file.ts";
import type { FileEntry } from "./file-entry.ts";

export interface FileBookOptions<T> {
  /** Throws where the text can not be used. */
  readonly parse: (text: string) => T;
  /** Some file says something else than before. */
  readonly onChanged: () => void;
  readonly pollMs: number;
}

/** Room for a million names; more is a mistake. */
const MAX_BYTES = 67_108_864;

interface Page<T> extends FileEntry<T> {
  readonly version: string;
}

/**
 * Files that listeners are told by. Each is read when it is first wanted, and again when it changes;
 * where the new text can not be used, the value before it stays.
 */
export class FileBook<T> {
  readonly #options: FileBookOptions<T>;
  readonly #pages = new Map<string, Page<T>>();
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;

  constructor(options: FileBookOptions<T>) {
    this.#options = options;
  }

  /** Follows these from now on, and no others. Settles when each has been read. */
  async follow(paths: ReadonlySet<string>): Promise<ReadonlyMap<string, FileEntry<T>>> {
    for (const path of [...this.#pages.keys()]) if (!paths.has(path)) this.#pages.delete(path);
    const isNew = (path: string): boolean => !this.#pages.has(path);
    await Promise.all([...paths].filter(isNew).map((path) => this.#read(path)));
    this.#schedule();
    return new Map(this.#pages);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#pages.clear();
  }

  /** Looks whether a file has changed. */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const changed = await Promise.all([...this.#pages.keys()].map((path) => this.#read(path)));
    this.#isLooking = false;
    if (changed.includes(true)) this.#options.onChanged();
  }

  #schedule(): void {
    if (this.#pages.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    if (this.#pages.size === 0 || this.#timer !== undefined) return;
    this.#timer = setInterval(() => void this.look(), this.#options.pollMs).unref();
  }

  /** Whether it is another than before. */
  async #read(path: string): Promise<boolean> {
    const before = this.#pages.get(path);
    const version = await versionOf(path);
    if (before?.version === version) return false;
    const page = await this.#open(path, version, before?.value);
    const isWanted = before === undefined || this.#pages.has(path);
    if (isWanted) this.#pages.set(path, page);
    return isWanted;
  }

  async #open(path: string, version: string, before: T | undefined): Promise<Page<T>> {
    try {
      const text = await readRegularFile(path, MAX_BYTES);
      if (text === undefined) throw new RangeError(`it has more than ${MAX_BYTES} bytes`);
      return { value: this.#options.parse(text), problem: "", version };
    } catch (error) {
      const problem = messageOf(error);
      return { value: before, problem, version };
    }
  }
}

/** What tells one content from another; empty where there is no such file. */
async function versionOf(path: string): Promise<string> {
  const stats = await stat(path, { bigint: true }).catch(() => undefined);
  return stats === undefined ? "" : `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`;
}
