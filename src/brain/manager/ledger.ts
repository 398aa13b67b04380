import type { Kind, ModelObject, ObjectOf } from "../../core/model/object.ts";

/** What an object is called. */
export interface ObjectName {
  readonly kind: Kind;
  readonly key: string;
}

export interface LedgerChange {
  readonly set?: readonly ModelObject[];
  readonly delete?: readonly ObjectName[];
  /** By name, what is not for the eyes of nodes; undefined removes. */
  readonly secrets?: ReadonlyMap<string, string | undefined>;
}

export interface LedgerPlan<T> {
  readonly change: LedgerChange;
  /** What who asked is told, once the change is kept. */
  readonly result: T;
}

/** What a manager keeps for as long as the cluster is there; several managers may share one. */
export interface Ledger {
  get<K extends Kind>(kind: K, key: string): ObjectOf<K> | undefined;
  objects(): Iterable<ModelObject>;
  secret(name: string): string | undefined;
  secrets(): ReadonlyMap<string, string>;
  /**
   * Keeps what `plan` says, all of it or nothing; it settles when that is on the disk, and who follows was told.
   * One at a time; `plan` is asked again where another manager was quicker.
   * @throws what `plan` throws; CoreError where it can not be kept
   */
  change<T>(plan: () => LedgerPlan<T>): Promise<T>;
  /** From now on told what changed, whoever changed it. */
  follow(onChange: (names: readonly ObjectName[]) => void): void;
  close(): Promise<void>;
}

/** How many times as long as for others a node has for its first renewal: it has to come to be ready, or to find its manager again. */
export const FIRST_RENEWAL = 3;

/** Who is alive, as far as all managers together know. */
export interface Pulse {
  /** @param onChange told of each node that dies or lives again */
  follow(onChange: (node: string) => void): void;
  isAlive(node: string): boolean;
  /** It has joined, and has longer than others for its first renewal. */
  welcome(node: string): Promise<void>;
  renew(node: string): Promise<void>;
  /** It leaves on purpose. */
  forget(node: string): Promise<void>;
  close(): void;
}
