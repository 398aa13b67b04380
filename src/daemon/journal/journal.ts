import { chmod, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate as pause } from "node:timers/promises";
import { pauseAt } from "../../control/pause.ts";
import type { DesiredChange, RuntimeChange } from "../../control/world.ts";
import { CoreError, messageOf } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { ModelObject } from "../../core/model/object.ts";
import { Turns } from "../../core/turns.ts";
import { syncFolder } from "../../platform/replace-file.ts";
import { AppendFile, type RawFile } from "./append-file.ts";
import {
  type Decoded,
  encodeChecked,
  encodeEntry,
  encodeHeader,
  encodeObject,
  type KeptChange,
  NO_DESIRED_CHANGE,
  NO_RUNTIME_CHANGE,
} from "./journal-line.ts";
import { KeptState } from "./kept-state.ts";
import { readJournal } from "./read-journal.ts";

export const JOURNAL_NAME = "journal.jsonl";

export interface JournalOptions {
  /** The state folder; it is there. */
  readonly folder: string;
  readonly log: Log;
  /** Whether it begins anew; a journal that is there is kept aside. */
  readonly ignores: boolean;
  readonly nowMs: () => number;
  /** How files are opened; another way is for tests of disks that fail. */
  readonly openFile?: (path: string, flags: "r+" | "wx") => Promise<RawFile>;
  /** How what is in a folder is made to last; another way is for tests. */
  readonly syncFolder?: (path: string) => Promise<void>;
  /** A smaller file is never written anew. */
  readonly minCompactBytes?: number;
}

const OWNER_ONLY = 0o600;
const MIN_COMPACT_BYTES = 1_048_576;
/** A file that is so many times as large as what is still true is written anew. */
const COMPACT_FACTOR = 4;

/**
 * What commands made, on the disk: a line for each change, there before the change is acknowledged.
 * Only one process has it open, which the instance socket of the folder sees to.
 */
export class Journal {
  readonly path: string;
  readonly kept: KeptState;
  readonly #options: JournalOptions;
  readonly #turns = new Turns();
  /** Of objects that were made ready before their turn. */
  readonly #texts = new WeakMap<ModelObject, Decoded<string>>();
  #file: AppendFile;
  #nextSeq: number;
  /** It is written anew when it is larger than this, too: what failed once is not tried at each change. */
  #compactAbove: number;
  #onWrite: (problem: CoreError | undefined) => void = () => undefined;

  /** @throws CoreError ERR_JOURNAL where it is damaged or can not be written */
  static async open(options: JournalOptions): Promise<Journal> {
    const path = join(options.folder, JOURNAL_NAME);
    await rm(newPath(path), { force: true });
    if (options.ignores) await keepAside(path, options);
    const bytes = await readIfThere(path);
    if (bytes === undefined) {
      const kept = new KeptState();
      const file = await writeWhole(path, kept, 1, options);
      await syncWith(options)(options.folder);
      return new Journal(options, { path, kept, file, nextSeq: 1 });
    }
    const { kept, nextSeq, goodBytes, tornBytes } = readJournal(bytes, path);
    try {
      await chmod(path, OWNER_ONLY);
      const file = new AppendFile(await openWith(options)(path, "r+"), goodBytes);
      if (tornBytes > 0) {
        await file.cut();
        options.log.warn(
          { path, bytes: tornBytes },
          "the last line of the journal was not written to its end, and is cut off; its command was never acknowledged",
        );
      }
      return new Journal(options, { path, kept, file, nextSeq });
    } catch (error) {
      throw notWritable(path, error);
    }
  }

  private constructor(
    options: JournalOptions,
    parts: { path: string; kept: KeptState; file: AppendFile; nextSeq: number },
  ) {
    this.#options = options;
    this.path = parts.path;
    this.kept = parts.kept;
    this.#file = parts.file;
    this.#nextSeq = parts.nextSeq;
    this.#compactAbove = options.minCompactBytes ?? MIN_COMPACT_BYTES;
  }

  /** How large the file is. */
  get bytes(): number {
    return this.#file.size;
  }

  /** Does ahead, with pauses in which others go on, the most of what keeping these objects takes. */
  async prepare(objects: readonly ModelObject[]): Promise<void> {
    for (const [index, object] of objects.entries()) {
      await pauseAt(index);
      this.#texts.set(object, encodeObject(object, index));
    }
  }

  /** Settles when it is on the disk. @throws CoreError ERR_JOURNAL: then nothing of it is kept */
  keepObjects(desired: DesiredChange): Promise<void> {
    return this.#append({ desired, runtime: NO_RUNTIME_CHANGE });
  }

  /** Settles when it is on the disk. @throws CoreError ERR_JOURNAL: then nothing of it is kept */
  keepEntries(runtime: RuntimeChange): Promise<void> {
    return this.#append({ desired: NO_DESIRED_CHANGE, runtime });
  }

  /** @param onWrite told after each change why the disk did not take it; undefined where it did */
  follow(onWrite: (problem: CoreError | undefined) => void): void {
    this.#onWrite = onWrite;
  }

  /** Waits for what is under way. */
  async close(): Promise<void> {
    await this.#turns.over();
    await this.#file.close();
  }

  #append(change: KeptChange): Promise<void> {
    const done = this.#turns.take(async () => {
      const pieces = await this.#lineOf(change);
      try {
        await this.#file.append(...pieces);
      } catch (error) {
        const problem = notWritable(this.path, error);
        this.#onWrite(problem);
        throw problem;
      }
      this.#onWrite(undefined);
      this.#nextSeq += 1;
      await this.kept.applySlowly(change, (object) => {
        const text = this.#texts.get(object);
        return text?.ok ? text.value.length : undefined;
      });
    });
    // Nobody waits for it but the change after this one.
    void done.then(
      () => this.#turns.take(() => this.#compact()),
      () => undefined,
    );
    return done;
  }

  /** A line that could not be read at the next start is never written. */
  async #lineOf(change: KeptChange): Promise<readonly string[]> {
    const line = await encodeChecked(
      { seq: this.#nextSeq, ...change },
      (object, index) => this.#texts.get(object) ?? encodeObject(object, index),
    );
    if (line.ok) return line.value;
    throw new CoreError(
      "ERR_JOURNAL",
      `${this.path}: the change can not be kept: the journal could not be read with it: ${line.fault}; nothing was changed: this is a defect of Portolan, please report it`,
    );
  }

  async #compact(): Promise<void> {
    const { log, minCompactBytes = MIN_COMPACT_BYTES } = this.#options;
    const before = this.#file.size;
    if (before <= this.#compactAbove || before <= COMPACT_FACTOR * this.kept.bytes) return;
    try {
      const old = this.#file;
      this.#file = await writeWhole(this.path, this.kept, this.#nextSeq, this.#options);
      for (const _ of this.kept.parts()) this.#nextSeq += 1;
      this.#compactAbove = minCompactBytes;
      await old.close();
      await syncWith(this.#options)(dirname(this.path));
      log.info({ path: this.path, before, bytes: this.#file.size }, "the journal was written anew");
    } catch (error) {
      this.#compactAbove = before + minCompactBytes;
      await rm(newPath(this.path), { force: true }).catch(() => undefined);
      const why = messageOf(error);
      log.warn({ path: this.path }, `the journal could not be written anew, and goes on: ${why}`);
    }
  }
}

/** A file that holds just this; it takes the place of the one before at once, or not at all. */
async function writeWhole(
  path: string,
  kept: KeptState,
  first: number,
  options: JournalOptions,
): Promise<AppendFile> {
  try {
    const file = new AppendFile(await openWith(options)(newPath(path), "wx"), 0);
    try {
      await file.append(await wholeText(kept, first));
      await rename(newPath(path), path);
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  } catch (error) {
    throw notWritable(path, error);
  }
}

async function wholeText(kept: KeptState, first: number): Promise<string> {
  const lines = [encodeHeader(first)];
  for (const part of kept.parts()) {
    await pause();
    lines.push(encodeEntry({ seq: first + lines.length - 1, ...part }));
  }
  return lines.join("");
}

function openWith({ openFile }: JournalOptions): NonNullable<JournalOptions["openFile"]> {
  return openFile ?? ((path, flags) => open(path, flags, OWNER_ONLY));
}

function syncWith(options: JournalOptions): NonNullable<JournalOptions["syncFolder"]> {
  return options.syncFolder ?? syncFolder;
}

/** What a journal holds, without touching it; nothing where there is none. @throws CoreError ERR_JOURNAL */
export async function readKept(folder: string): Promise<KeptState> {
  const path = join(folder, JOURNAL_NAME);
  const bytes = await readIfThere(path);
  return bytes === undefined ? new KeptState() : readJournal(bytes, path).kept;
}

/** The texts of the journals that were put aside, be they damaged. */
export async function readAsides(folder: string): Promise<readonly string[]> {
  const names = (await readdir(folder)).filter(
    (name) => name.startsWith(`${JOURNAL_NAME}.`) && name !== newPath(JOURNAL_NAME),
  );
  return Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw notWritable(path, error);
  }
}

async function keepAside(path: string, { log, nowMs }: JournalOptions): Promise<void> {
  const time = new Date(nowMs()).toISOString().replaceAll(/[:.]/g, "-");
  const aside = `${path}.${time}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return;
    throw notWritable(path, error);
  }
  log.warn({ path: aside }, `--no-load: what commands made is not loaded, and kept in ${aside}`);
}

function newPath(path: string): string {
  return `${path}.new`;
}

function notWritable(path: string, cause: unknown): CoreError {
  if (cause instanceof CoreError) return cause;
  const why = messageOf(cause);
  return new CoreError(
    "ERR_JOURNAL",
    `${path}: the journal can not be written: ${why}; nothing was changed: see to the disk, and try again`,
    { cause },
  );
}
