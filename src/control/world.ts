import type { Kind, ModelObject } from "../core/model/object.ts";
import type { GlobalStore } from "../core/store/global-store.ts";
import type { EnginePort } from "./engine-port.ts";

/** Who owns what commands make. */
export const CONTROL_OWNER = "control";

/** What one command changes of the desired state; objects of `CONTROL_OWNER` only. */
export interface DesiredChange {
  readonly set: readonly ModelObject[];
  readonly delete: readonly { readonly kind: Kind; readonly key: string }[];
  /** Whether users of what goes may be left without it: their trouble does not refuse the change. */
  readonly tolerates?: boolean;
}

/** What commands made that is no object of the store: made anew at the next start. */
export type RuntimeEntry =
  | { readonly kind: "event-loop-group"; readonly name: string }
  | { readonly kind: "event-loop"; readonly name: string; readonly group: string }
  | {
      readonly kind: "controller";
      readonly type: "resp-controller" | "http-controller";
      readonly name: string;
      /** As it is typed. */
      readonly address: string;
      /** File that holds the secret; empty: none. */
      readonly secretFile: string;
    }
  | GroupDelegateEntry
  | NodeDelegateEntry;

/** A server group that follows the instances of a service. */
export interface GroupDelegateEntry {
  readonly kind: "smart-group-delegate";
  readonly name: string;
  /** Key of the service. */
  readonly service: string;
  /** Name of its port; empty: the only one. */
  readonly servicePort: string;
  /** Empty: any. */
  readonly zone: string;
  /** Key of the group. */
  readonly serverGroup: string;
}

/** A port of this machine that is announced as an instance of a service while it answers. */
export interface NodeDelegateEntry {
  readonly kind: "smart-node-delegate";
  readonly name: string;
  /** Key of the service. */
  readonly service: string;
  readonly servicePort: string;
  /** Empty: none. */
  readonly zone: string;
  /** What others call: an IP address, or the one that `nic` has. */
  readonly address: string;
  /** Name of a network interface; empty where `address` says it. */
  readonly nic: string;
  /** Of `nic`. */
  readonly family: "v4" | "v6";
  readonly port: number;
  readonly weight: number;
  /** HOST:PORT; empty: what is announced. */
  readonly checkAddress: string;
  readonly timeoutMs: number;
  readonly periodMs: number;
  readonly up: number;
  readonly down: number;
}

export type DelegateEntry = GroupDelegateEntry | NodeDelegateEntry;

/** By what an entry is found again: names are of all groups and types together. */
export interface RuntimeName {
  readonly kind: RuntimeEntry["kind"];
  readonly name: string;
}

/** A change of what is kept beside the objects. */
export interface RuntimeChange {
  readonly add: readonly RuntimeEntry[];
  readonly remove: readonly RuntimeName[];
}

/** A controller that listens now, or that is kept and could not be started again. */
export interface ControllerState {
  readonly type: "resp-controller" | "http-controller" | "stdio-controller";
  readonly name: string;
  readonly address: string;
  readonly hasSecret: boolean;
  readonly connections: number;
  /** Why it does not listen; missing where it does. */
  readonly problem?: string;
}

/** Controllers as commands see them. */
export interface ControllersPort {
  list(): readonly ControllerState[];
  /** @throws CoreError ERR_LISTEN, ERR_KEY_TAKEN, ERR_USAGE */
  add(entry: Extract<RuntimeEntry, { kind: "controller" }>): Promise<void>;
  remove(type: ControllerState["type"], name: string): Promise<void>;
  /**
   * Opens the console on the terminal that the instance was started on, under the name `stdio`.
   * @returns false where it has none
   */
  openConsole(): boolean;
}

/** How a delegate does. */
export interface DelegateState {
  readonly entry: DelegateEntry;
  /** One word: `following`, `announced`, `down`. */
  readonly status: string;
  /** What it put into its group, or announced: names of servers, or the address. */
  readonly servers: readonly string[];
  /** Where it announces; empty for those that follow. */
  readonly to: string;
  /** What is wrong, in words; empty where nothing is. */
  readonly problem: string;
}

/** Delegates as commands see them. */
export interface DelegatesPort {
  /** In no order. */
  list(): readonly DelegateState[];
  add(entry: DelegateEntry): Promise<void>;
  /** What it had put or announced is gone when it settles, or where that can not be reached soon after. */
  remove(kind: DelegateEntry["kind"], name: string): Promise<void>;
}

/** A private file that a command is about to use. */
export interface KeptFile {
  readonly path: string;
  /** The command is over: the file goes where nothing uses it. */
  release(): Promise<void>;
}

/** What commands need of the instance; the daemon gives it, tests give their own. */
export interface ControlWorld {
  readonly store: GlobalStore;
  /** Undefined where no data plane is in this process. */
  readonly engine: EnginePort | undefined;
  readonly controllers: ControllersPort;
  readonly delegates: DelegatesPort;
  /**
   * Makes a change true, all or nothing: store, journal, data planes. Settles when it is kept and the
   * data planes have it; where one can not (a port is taken), all of it is taken back.
   * @returns what is still under way of it, for people; empty where nothing is
   * @throws CoreError ERR_KEY_TAKEN, ERR_ADDRESS_TAKEN, ERR_LISTEN, ERR_JOURNAL
   */
  commit(change: DesiredChange): Promise<string>;
  /** Does ahead what can be done of a large change before its turn, so that others wait the less. */
  prepare(objects: readonly ModelObject[]): Promise<void>;
  /** Everything of the owner `control` is just this from now on, as in `commit`. */
  replace(objects: readonly ModelObject[]): Promise<string>;
  /** Keeps what was made beside the objects; the caller makes it and, where this fails, undoes it. */
  keep(change: RuntimeChange): Promise<void>;
  /** What `keep` has kept, in order. */
  kept(): readonly RuntimeEntry[];
  readonly version: string;
  readFile(path: string): Promise<string>;
  /** Whole or not at all; the file before it stays as `PATH.bak`. */
  writeFile(path: string, text: string): Promise<void>;
  /** All addresses of a name. @throws CoreError ERR_NOT_FOUND */
  lookup(name: string): Promise<readonly string[]>;
  /** Ends the instance, after the answer to this command is sent. */
  shutdown(): void;
  /** Keeps a private file (a certificate that was sent as text) in the state folder. */
  keepFile(name: string, text: string): Promise<KeptFile>;
}
