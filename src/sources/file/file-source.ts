import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { CoreError } from "../../core/errors.ts";
import type { GlobalStore } from "../../core/store/global-store.ts";
import type { Source, SourceReporter } from "../source.ts";
import { FolderWatch } from "./folder-watch.ts";
import { DEFAULT_MAX_FILE_BYTES, type FileVersion, listFiles } from "./read-files.ts";
import { readStable, type StableState, versionOf } from "./read-stable.ts";

export interface FileSourceOptions {
  /** A file, or a folder of them. */
  readonly path: string;
  /** `file:PATH` by default. */
  readonly owner?: string;
  /** Over all files; 256 MB by default. */
  readonly maxFileBytes?: number;
  /** How often the files are looked at where the system does not tell of changes; 2 s by default. */
  readonly pollMs?: number;
}

const DEFAULT_POLL_MS = 2000;
/** Files that change all the time are taken as they are after this many looks. */
const MAX_POSTPONED = 20;

/**
 * A source that reads state files and follows their changes. Each time that they changed all of them
 * are read again, and replace what the owner had in one transaction. What can not be taken (a bad
 * file, one that vanished, an address that another source holds) changes nothing and is reported; a
 * file that goes from a folder takes its objects with it, the last one excepted.
 */
export function createFileSource(options: FileSourceOptions): Source {
  return new FileSource(options);
}

class FileSource implements Source {
  readonly owner: string;
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #pollMs: number;
  #watch: FolderWatch | undefined;
  /** What was last read, also where it was refused: only a change is read again. */
  #seen: string | undefined;
  /** Whether there were files at the last look that could be taken. */
  #hadFiles = false;
  /** Read, but refused by the store: another source may give up what it holds. */
  #waiting: StableState | undefined;
  /** What was there at the last look, and how many looks in a row found something else. */
  #looked: string | undefined;
  #postponed = 0;
  #lastFailure = "";
  #isQueued = false;
  #loading: Promise<void> = Promise.resolve();
  #closed = false;

  constructor({ path, owner, maxFileBytes, pollMs }: FileSourceOptions) {
    this.owner = owner ?? `file:${path}`;
    this.#path = path;
    this.#maxBytes = maxFileBytes ?? DEFAULT_MAX_FILE_BYTES;
    this.#pollMs = pollMs ?? DEFAULT_POLL_MS;
  }

  async start(store: GlobalStore, report: SourceReporter): Promise<void> {
    store.register(this.owner);
    const folder = await folderOf(this.#path);
    const notify = () => this.#look(store, report);
    this.#watch = await FolderWatch.open({ folder, pollMs: this.#pollMs, notify });
    const first = this.#load(store, report);
    this.#loading = first.catch(() => undefined);
    try {
      await first;
    } catch (error) {
      this.#closed = true;
      throw error;
    } finally {
      if (this.#closed) this.#watch.close();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#watch?.close();
    await this.#loading;
  }

  /** Looks once more after the look that runs, however often it is called meanwhile. */
  #look(store: GlobalStore, report: SourceReporter): void {
    if (this.#isQueued) return;
    this.#isQueued = true;
    this.#loading = this.#loading.then(async () => {
      this.#isQueued = false;
      try {
        if (await this.#isStill()) await this.#load(store, report);
        else this.#watch?.settle();
      } catch (cause) {
        this.#fail(cause, report);
      }
    });
  }

  /** Whether two looks in a row saw the same: what still changes may be half written. */
  async #isStill(): Promise<boolean> {
    const version = versionOf(await this.#list());
    const isStill = version === this.#seen || version === this.#looked;
    this.#looked = version;
    this.#postponed = isStill ? 0 : this.#postponed + 1;
    return isStill || this.#postponed > MAX_POSTPONED;
  }

  /** Reads the files where they are others than before, and puts what they say into the store. */
  async #load(store: GlobalStore, report: SourceReporter): Promise<void> {
    if (this.#closed) return;
    const version = versionOf(await this.#list());
    if (version !== this.#seen) {
      this.#seen = version;
      this.#waiting = undefined;
      this.#waiting = await this.#read();
      this.#seen = versionOf(this.#waiting.files);
    }
    if (this.#waiting === undefined || this.#closed) return;
    const { state, files } = this.#waiting;
    store.transact(this.owner, (tx) => tx.replaceAll(state.objects));
    this.#waiting = undefined;
    this.#hadFiles = files.length > 0;
    this.#lastFailure = "";
    store.markSynced(this.owner);
    report.ok(summaryOf(state.objects.length, files.length, state.skipped));
  }

  async #read(): Promise<StableState> {
    try {
      return await readStable(this.#path, this.#maxBytes);
    } catch (error) {
      // What could not be read may be readable at the next look; what was read and is bad stays bad.
      if (!(error instanceof CoreError) || error.code === "ERR_STATE_UNREADABLE") {
        this.#seen = undefined;
      }
      throw error;
    }
  }

  async #list(): Promise<readonly FileVersion[]> {
    try {
      const files = await listFiles(this.#path);
      if (files.length === 0 && this.#hadFiles) throw emptied(this.#path);
      return files;
    } catch (error) {
      // When it comes back it is read, even where it is what it was.
      this.#seen = undefined;
      throw error;
    }
  }

  /** What goes on being wrong is said once. */
  #fail(cause: unknown, report: SourceReporter): void {
    const error = asCoreError(cause, this.#path);
    if (this.#closed || error.message === this.#lastFailure) return;
    this.#lastFailure = error.message;
    report.failed(error);
  }
}

/** A folder that is not mounted is empty too, and would take everything with it. */
function emptied(path: string): CoreError {
  return new CoreError(
    "ERR_STATE_UNREADABLE",
    `${path}: no state file is left; what was read before stays, unless a file says that there is nothing (version: 1)`,
  );
}

function summaryOf(objects: number, files: number, skipped: readonly string[]): string {
  const left = skipped.length === 0 ? "" : `; left out: ${skipped.join(", ")}`;
  return `${objects} objects from ${files} ${files === 1 ? "file" : "files"}${left}`;
}

function asCoreError(cause: unknown, path: string): CoreError {
  if (cause instanceof CoreError) return cause;
  return new CoreError("ERR_STATE_UNREADABLE", `${path}: can not be read (${String(cause)})`, {
    cause,
  });
}

/** The folder that changes are seen in: a file can be replaced, its folder stays. */
async function folderOf(path: string): Promise<string> {
  const isFolder = await stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  return isFolder ? path : dirname(path);
}
