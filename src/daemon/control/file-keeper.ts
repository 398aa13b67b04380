import { join } from "node:path";
import { CONTROL_OWNER } from "../../control/world.ts";
import type { Log } from "../../core/log.ts";
import type { GlobalStore } from "../../core/store/global-store.ts";
import type { Turns } from "../../core/turns.ts";
import { readAsides } from "../journal/journal.ts";
import { KeptFiles } from "../kept-files.ts";
import type { Committer } from "./committer.ts";

export interface FileKeeperOptions {
  readonly store: GlobalStore;
  readonly committer: Committer;
  /** Of commands: what one has begun with files is over after its turn. */
  readonly turns: Turns;
  readonly stateFolder: string;
  readonly log: Log;
}

const FILES_FOLDER = "files";

/** Sees to it that files which came with commands stay no longer than the certificates that name them. */
export class FileKeeper {
  readonly kept: KeptFiles;
  readonly #options: FileKeeperOptions;

  constructor(options: FileKeeperOptions) {
    this.#options = options;
    const { store, stateFolder } = options;
    this.kept = new KeptFiles({
      folder: join(stateFolder, FILES_FOLDER),
      used: () => filesIn(store),
      asides: () => readAsides(stateFolder),
    });
  }

  /** From now on those that nothing names are removed, at once and after each command that changed certificates. */
  begin(): void {
    this.#sweep();
    this.#options.store.onCommit(({ owner, changes }) => {
      const isOurs = owner === CONTROL_OWNER;
      if (isOurs && changes.some(({ kind }) => kind === "Certificate")) this.#sweep();
    });
  }

  #sweep(): void {
    const { turns, committer, log } = this.#options;
    // A change can still be taken back until the turn of its command is over.
    const swept = turns.take(() => committer.between(() => this.kept.sweep()));
    swept.catch((error: unknown) => log.debug({ err: error }, "unused files were not removed"));
  }
}

/** Undefined where a certificate waits for that of another source to go: which files it names is not seen. */
function filesIn(store: GlobalStore): readonly string[] | undefined {
  if (store.conflicts().some(({ kind }) => kind === "Certificate")) return undefined;
  const { certificates, listeners } = store.state();
  return [
    ...[...certificates.values()].flatMap(({ certFiles, keyFile, caFile }) => [
      ...certFiles,
      keyFile,
      caFile,
    ]),
    ...[...listeners.values()].flatMap(({ tls }) => (tls === undefined ? [] : [tls.clientCaFile])),
  ];
}
