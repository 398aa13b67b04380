import { generate } from "selfsigned";
import { CoreError } from "../core/errors.ts";
import type { ModelObject } from "../core/model/object.ts";
import { GlobalStore } from "../core/store/global-store.ts";
import type { EnginePort } from "./engine-port.ts";
import { MemoryEngine } from "./memory-engine.fixture.ts";
import {
  CONTROL_OWNER,
  type ControllerState,
  type ControllersPort,
  type ControlWorld,
  type DelegateEntry,
  type DelegateState,
  type DelegatesPort,
  type DesiredChange,
  type KeptFile,
  type RuntimeChange,
  type RuntimeEntry,
} from "./world.ts";

/** The names of files that a `MemoryWorld` has from the start. */
export const CERT_FILE = "/pem/site.pem";
export const KEY_FILE = "/pem/site.key";

const PAIR = await generate([{ name: "commonName", value: "site.example" }], { keyType: "ec" });
const PEM_FILES: readonly (readonly [string, string])[] = [
  [CERT_FILE, PAIR.cert],
  [KEY_FILE, PAIR.private],
];

export interface MemoryWorldOptions {
  readonly store?: GlobalStore;
  /** Undefined: a `MemoryEngine`; null: none. */
  readonly engine?: EnginePort | null;
}

/** An instance in memory: a real store, and beside it what tests want it to have. */
export class MemoryWorld implements ControlWorld {
  readonly store: GlobalStore;
  readonly engine: EnginePort | undefined;
  readonly controllers: MemoryControllers = new MemoryControllers();
  readonly delegates: MemoryDelegates = new MemoryDelegates();
  readonly version = "0.0.0-test";
  readonly files: Map<string, string> = new Map(PEM_FILES);
  readonly hosts: Map<string, readonly string[]> = new Map([
    ["a.example", ["192.0.2.1", "2001:db8::1"]],
  ]);
  /** Every change that was made, in order. */
  readonly commits: DesiredChange[] = [];
  /** What the next change, of objects or of what is kept, fails with. */
  failNext: CoreError | undefined;
  /** What is waited for before a change is made. */
  beforeCommit: () => Promise<void> = async () => undefined;
  /** What is told to be under way of each change. */
  note = "";
  isShutDown = false;
  #kept: readonly RuntimeEntry[] = [];

  constructor(options: MemoryWorldOptions = {}) {
    this.store = options.store ?? new GlobalStore();
    this.engine = options.engine === null ? undefined : (options.engine ?? new MemoryEngine());
  }

  async commit(change: DesiredChange): Promise<string> {
    await this.beforeCommit();
    this.#failIfTold();
    this.store.transact(CONTROL_OWNER, (transaction) => {
      for (const { kind, key } of change.delete) transaction.delete(kind, key);
      for (const object of change.set) transaction.set(object);
    });
    this.commits.push(change);
    return this.note;
  }

  async prepare(): Promise<void> {}

  async replace(objects: readonly ModelObject[]): Promise<string> {
    await this.beforeCommit();
    this.#failIfTold();
    this.store.transact(CONTROL_OWNER, (transaction) => transaction.replaceAll(objects));
    return this.note;
  }

  async keep(change: RuntimeChange): Promise<void> {
    this.#failIfTold();
    const stays = (entry: RuntimeEntry): boolean =>
      !change.remove.some(({ kind, name }) => kind === entry.kind && name === entry.name);
    this.#kept = [...this.#kept.filter(stays), ...change.add];
  }

  kept(): readonly RuntimeEntry[] {
    return this.#kept;
  }

  async readFile(path: string): Promise<string> {
    const text = this.files.get(path);
    if (text !== undefined) return text;
    throw new CoreError("ERR_STATE_UNREADABLE", `${path}: there is no such file`);
  }

  async writeFile(path: string, text: string): Promise<void> {
    const before = this.files.get(path);
    if (before !== undefined) this.files.set(`${path}.bak`, before);
    this.files.set(path, text);
  }

  async lookup(name: string): Promise<readonly string[]> {
    const addresses = this.hosts.get(name);
    if (addresses !== undefined) return addresses;
    throw new CoreError("ERR_NOT_FOUND", `no addresses for ${name}`);
  }

  shutdown(): void {
    this.isShutDown = true;
  }

  async keepFile(name: string, text: string): Promise<KeptFile> {
    const path = `/kept/${name}`;
    await this.writeFile(path, text);
    const isUsed = (): boolean =>
      [...this.store.objects("Certificate")].some(
        (each) => each.kind === "Certificate" && [...each.certFiles, each.keyFile].includes(path),
      );
    return {
      path,
      release: async () => {
        if (!isUsed()) this.files.delete(path);
      },
    };
  }

  #failIfTold(): void {
    const error = this.failNext;
    this.failNext = undefined;
    if (error !== undefined) throw error;
  }
}

/** Delegates that follow and announce nothing. */
export class MemoryDelegates implements DelegatesPort {
  #states: readonly DelegateState[] = [];

  list(): readonly DelegateState[] {
    return [...this.#states];
  }

  async add(entry: DelegateEntry): Promise<void> {
    const status = entry.kind === "smart-group-delegate" ? "following" : "checking";
    const state = { entry, status, servers: [], to: "this instance", problem: "" };
    this.#states = [...this.#states, state];
  }

  async remove(kind: DelegateEntry["kind"], name: string): Promise<void> {
    this.#states = this.#states.filter(({ entry }) => entry.kind !== kind || entry.name !== name);
  }
}

/** Controllers that listen nowhere. */
export class MemoryControllers implements ControllersPort {
  #states: readonly ControllerState[] = [];

  list(): readonly ControllerState[] {
    return this.#states;
  }

  async add(entry: Extract<RuntimeEntry, { kind: "controller" }>): Promise<void> {
    const { type, name, address, secretFile } = entry;
    this.start({ type, name, address, hasSecret: secretFile !== "", connections: 0 });
  }

  /** As if it had been told at the start. */
  start(state: ControllerState): void {
    this.#states = [...this.#states, state];
  }

  /** Whether it is on a terminal. */
  hasTerminal = false;

  openConsole(): boolean {
    if (this.hasTerminal) {
      const address = "stdio";
      this.start({
        type: "stdio-controller",
        name: "stdio",
        address,
        hasSecret: false,
        connections: 1,
      });
    }
    return this.hasTerminal;
  }

  async remove(type: ControllerState["type"], name: string): Promise<void> {
    this.#states = this.#states.filter((state) => state.type !== type || state.name !== name);
  }
}
