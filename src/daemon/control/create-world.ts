import { lookup } from "node:dns/promises";
import { join } from "node:path";
import type { EnginePort } from "../../control/engine-port.ts";
import type { ControllersPort, ControlWorld } from "../../control/world.ts";
import { CoreError } from "../../core/errors.ts";
import { canonicalIp } from "../../core/model/address.ts";
import type { GlobalStore } from "../../core/store/global-store.ts";
import type { Journal } from "../journal/journal.ts";
import { keepPrivateFile, readTextFile, replaceTextFile } from "../private-files.ts";
import type { Committer } from "./committer.ts";

export interface WorldParts {
  readonly store: GlobalStore;
  readonly engine: EnginePort | undefined;
  readonly controllers: ControllersPort;
  readonly committer: Committer;
  readonly journal: Journal;
  readonly version: string;
  readonly stateFolder: string;
  readonly maxFileBytes: number;
  readonly shutdown: () => void;
}

/** The answer to the command that ends the instance goes out first. */
const SHUTDOWN_AFTER_MS = 100;
const FILES_FOLDER = "files";

/** What commands need of this instance. */
export function createWorld(parts: WorldParts): ControlWorld {
  const { store, engine, controllers, committer, journal, version, maxFileBytes } = parts;
  return {
    store,
    engine,
    controllers,
    commit: (change) => committer.commit(change),
    replace: (objects) => committer.replace(objects),
    keep: (change) => committer.keep(change),
    kept: () => journal.kept.entries(),
    version,
    readFile: (path) => readTextFile(path, maxFileBytes),
    writeFile: replaceTextFile,
    lookup: lookUp,
    shutdown: () => void setTimeout(parts.shutdown, SHUTDOWN_AFTER_MS),
    keepFile: (name, text) => keepPrivateFile(join(parts.stateFolder, FILES_FOLDER), name, text),
  };
}

async function lookUp(name: string): Promise<readonly string[]> {
  try {
    const found = await lookup(name, { all: true });
    const addresses = found.map(({ address }) => canonicalIp(address) ?? address);
    return [...new Set(addresses)];
  } catch (cause) {
    const why = cause instanceof Error && "code" in cause ? ` (${String(cause.code)})` : "";
    throw new CoreError("ERR_NOT_FOUND", `no address is known for "${name}"${why}`, { cause });
  }
}
