import type { EnginePort } from "../../control/engine-port.ts";
import type { ControllersPort, ControlWorld, DelegatesPort } from "../../control/world.ts";
import type { GlobalStore } from "../../core/store/global-store.ts";
import type { Journal } from "../journal/journal.ts";
import type { KeptFiles } from "../kept-files.ts";
import { readTextFile, replaceTextFile } from "../private-files.ts";
import type { Committer } from "./committer.ts";
import { LookUp } from "./look-up.ts";

export interface WorldParts {
  readonly store: GlobalStore;
  readonly engine: EnginePort | undefined;
  readonly controllers: ControllersPort;
  readonly delegates: DelegatesPort;
  readonly committer: Committer;
  readonly journal: Journal;
  readonly version: string;
  readonly files: KeptFiles;
  readonly maxFileBytes: number;
  readonly shutdown: () => void;
}

/** The answer to the command that ends the instance goes out first. */
const SHUTDOWN_AFTER_MS = 100;

/** What commands need of this instance. */
export function createWorld(parts: WorldParts): ControlWorld {
  const {
    store,
    engine,
    controllers,
    delegates,
    committer,
    journal,
    version,
    maxFileBytes,
    files,
  } = parts;
  const lookUp = new LookUp();
  return {
    store,
    engine,
    controllers,
    delegates,
    commit: (change) => committer.commit(change),
    prepare: (objects) => journal.prepare(objects),
    replace: (objects) => committer.replace(objects),
    keep: (change) => committer.keep(change),
    kept: () => journal.kept.entries(),
    version,
    readFile: (path) => readTextFile(path, maxFileBytes),
    writeFile: replaceTextFile,
    lookup: (name) => lookUp.addressesOf(name),
    shutdown: () => void setTimeout(parts.shutdown, SHUTDOWN_AFTER_MS),
    keepFile: (name, text) => files.keep(name, text),
  };
}
