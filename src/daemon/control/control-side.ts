import type { UnservedListener } from "../../backends/backend.ts";
import type { Control } from "../../control/control.ts";
import { createControl } from "../../control/create-control.ts";
import type { EnginePort } from "../../control/engine-port.ts";
import {
  CONTROL_OWNER,
  type ControlWorld,
  type DelegateEntry,
  type RuntimeEntry,
} from "../../control/world.ts";
import { messageOf } from "../../core/errors.ts";
import type { Reporter } from "../../core/status/status-board.ts";
import type { GlobalStore } from "../../core/store/global-store.ts";
import { Turns } from "../../core/turns.ts";
import type { Closers } from "../closers.ts";
import type { InstanceConfig } from "../config.ts";
import type { ControlConfig } from "../control-config.ts";
import type { InstanceDeps } from "../instance-deps.ts";
import { Journal } from "../journal/journal.ts";
import { createDelegates, type InstanceDelegates } from "../mesh/create-delegates.ts";
import type { Metrics } from "../metrics.ts";
import { makePrivateFolder } from "../private-files.ts";
import type { LiveParts } from "../requests/live-parts.ts";
import type { SyncProgress } from "../sync-progress.ts";
import { auditControl, audited } from "./audit-control.ts";
import { Committer } from "./committer.ts";
import { Controllers } from "./controllers.ts";
import { createWorld } from "./create-world.ts";
import { FileKeeper } from "./file-keeper.ts";
import { reportControllers } from "./report-controllers.ts";
import { reportJournal } from "./report-journal.ts";

export interface ControlSideOptions {
  readonly config: InstanceConfig;
  readonly control: ControlConfig;
  readonly deps: InstanceDeps;
  readonly closers: Closers;
  readonly live: LiveParts;
  /** Of the controllers. */
  readonly report: Reporter;
  /** Of the mesh, made when there is something to tell. */
  readonly meshReport: () => Reporter;
  readonly metrics: Pick<Metrics, "watchPart">;
  readonly status: () => Promise<unknown>;
  /** A command asks for the end. */
  readonly shutdown: () => void;
}

export interface AttachOptions {
  readonly store: GlobalStore;
  readonly progress: SyncProgress;
  readonly unserved: () => readonly UnservedListener[];
  readonly engine: EnginePort | undefined;
  readonly report: Reporter;
}

const HANDED_OVER = "another process takes this one's place; give the command again in a moment";

/** The part of an instance that takes commands and keeps what they make. */
export class ControlSide {
  readonly #options: ControlSideOptions;
  readonly #journal: Journal;
  readonly #controllers: Controllers;
  #control: Control | undefined;
  #committer: Committer | undefined;
  #files: FileKeeper | undefined;
  #delegates: InstanceDelegates | undefined;

  /** The folder is this process's alone by now. @throws CoreError ERR_JOURNAL */
  static async open(options: ControlSideOptions): Promise<ControlSide> {
    const { control, deps, closers } = options;
    await makePrivateFolder(control.stateFolder);
    const journal = await Journal.open({
      folder: control.stateFolder,
      log: deps.log,
      ignores: control.beginsEmpty,
      nowMs: deps.nowMs,
    });
    closers.add("the journal", () => journal.close());
    return new ControlSide(options, journal);
  }

  private constructor(options: ControlSideOptions, journal: Journal) {
    const { control, deps, report, status } = options;
    this.#options = options;
    this.#journal = journal;
    this.#controllers = new Controllers({
      control: () => this.control,
      log: deps.log,
      maySystem: control.maySystem,
      secretOf: (type) => (type === "resp-controller" ? control.resp : control.http)?.secret,
      httpHosts: control.httpHosts,
      keepFile: (name, text) => this.#keepFile(name, text),
      status,
    });
    reportControllers(this.#controllers, report);
  }

  /** There from `attach` on. */
  get control(): Control {
    if (this.#control !== undefined) return this.#control;
    throw new TypeError("the control side is not attached yet");
  }

  get controllers(): Controllers {
    return this.#controllers;
  }

  /** Makes the loops anew that commands made; what listens on them comes after. */
  async restoreLoops(engine: EnginePort | undefined): Promise<void> {
    for (const entry of this.#journal.kept.entries()) {
      if (entry.kind !== "event-loop" && entry.kind !== "event-loop-group") continue;
      const { kind, name } = entry;
      try {
        if (engine === undefined) throw new Error("there is no userspace data plane");
        if (entry.kind === "event-loop-group") await engine.addLoopGroup(name);
        else await engine.addLoop(name, entry.group);
      } catch (error) {
        const why = messageOf(error);
        this.#options.deps.log.warn({ kind, name }, `could not be made again: ${why}`);
      }
    }
  }

  /**
   * The sources have said all that they have: what commands made comes after them.
   * @throws CoreError ERR_KEY_TAKEN, ERR_ADDRESS_TAKEN where a source has by now what a command made
   */
  attach(options: AttachOptions): void {
    const { store, report } = options;
    const { deps, closers, control, config, live, shutdown, meshReport, metrics } = this.#options;
    const journal = this.#journal;
    const committer = new Committer({ ...options, journal, log: deps.log });
    committer.load();
    const delegates = createDelegates(store, config, { deps, report: meshReport, metrics });
    for (const entry of journal.kept.entries()) if (isDelegate(entry)) delegates.restore(entry);
    store.markSynced(CONTROL_OWNER);
    reportJournal(journal, report);
    // Shared, so that what is applied and what is commanded never plan on the same state at once.
    const turns = new Turns();
    const files = new FileKeeper({
      ...deps,
      store,
      committer,
      turns,
      stateFolder: control.stateFolder,
    });
    const world = createWorld({
      store,
      engine: options.engine,
      controllers: this.#controllers,
      delegates,
      committer,
      journal,
      version: deps.version,
      files: files.kept,
      maxFileBytes: config.values.maxFileBytes,
      shutdown,
    });
    this.#keepFile = world.keepFile;
    this.#committer = committer;
    this.#files = files;
    this.#delegates = delegates;
    this.#control = auditControl(createControl(world, turns), deps.log);
    live.control = {
      control: this.#control,
      world,
      journal,
      change: (what, caller, act) => turns.take(() => audited(deps.log, what, caller, act)),
    };
    closers.add("delegates", () => delegates.closeAll());
    closers.add("commands", async () => {
      await this.#controllers.closeAll();
      await committer.stop("the instance ends");
    });
  }

  /** @throws CoreError ERR_LISTEN, ERR_REFUSED for those that the options ask for */
  async openControllers(): Promise<void> {
    const { control } = this.#options;
    // Not before: a process whose place this one takes may need them until it has given way.
    this.#files?.begin();
    if (control.resp) await this.#controllers.start("resp-controller", "resp", control.resp);
    if (control.http) await this.#controllers.start("http-controller", "http", control.http);
    for (const entry of this.#journal.kept.entries()) {
      if (entry.kind === "controller") await this.#controllers.restore(entry);
    }
  }

  /** Another process is about to take this one's place: it reads the journal, so nothing changes any more. */
  async pause(): Promise<void> {
    await this.#committer?.stop(HANDED_OVER);
  }

  /** It did not. */
  resume(): void {
    this.#committer?.resume();
  }

  /** It did: it listens for commands now, and announces. */
  async giveWay(): Promise<void> {
    await Promise.all([this.#controllers.closeAll(), this.#delegates?.leave()]);
  }

  #keepFile: ControlWorld["keepFile"] = () =>
    Promise.reject(new TypeError("the control side is not attached yet"));
}

function isDelegate(entry: RuntimeEntry): entry is DelegateEntry {
  return entry.kind === "smart-group-delegate" || entry.kind === "smart-node-delegate";
}
