import type { Endpoint } from "../../core/model/endpoint.ts";
import { groupKeyOf, type Kind, type ObjectOf } from "../../core/model/object.ts";
import type { Commit, GlobalStore } from "../../core/store/global-store.ts";
import type { ObjectChange } from "../../core/store/resolution.ts";
import { type StateView, viewOf } from "./state-view.ts";

/**
 * The store as it is, read bit by bit while others change it: it remembers what was read, and notices when
 * that is changed. As long as it is not, what was read is what one look at the present would show.
 */
export class TrackedView implements StateView {
  readonly #view: StateView;
  readonly #stop: () => void;
  readonly #read = new Map<Kind, Set<string>>();
  readonly #readWhole = new Set<Kind>();
  readonly #readGroups = new Set<string>();
  #isStale = false;

  constructor(store: GlobalStore) {
    this.#view = viewOf(store);
    this.#stop = store.onCommit((commit) => this.#notice(commit));
  }

  /** Whether something that was read is not so any more. */
  get isStale(): boolean {
    return this.#isStale;
  }

  get<K extends Kind>(kind: K, key: string): ObjectOf<K> | undefined {
    this.#remember(kind, key);
    return this.#view.get(kind, key);
  }

  ownerOf(kind: Kind, key: string): string | undefined {
    this.#remember(kind, key);
    return this.#view.ownerOf(kind, key);
  }

  objects<K extends Kind>(kind: K): Iterable<ObjectOf<K>> {
    this.#readWhole.add(kind);
    return this.#view.objects(kind);
  }

  endpointsOf(groupKey: string): readonly Endpoint[] {
    this.#readGroups.add(groupKey);
    return this.#view.endpointsOf(groupKey);
  }

  /** Notices nothing any more. */
  close(): void {
    this.#stop();
  }

  #remember(kind: Kind, key: string): void {
    const keys = this.#read.get(kind);
    if (keys === undefined) this.#read.set(kind, new Set([key]));
    else keys.add(key);
  }

  #notice({ changes }: Commit): void {
    this.#isStale ||= changes.some((change) => this.#hasRead(change));
  }

  #hasRead({ kind, key, before, after }: ObjectChange): boolean {
    if (this.#readWhole.has(kind) || this.#read.get(kind)?.has(key)) return true;
    return [before, after].some(
      (object) => object?.kind === "Endpoint" && this.#readGroups.has(groupKeyOf(object)),
    );
  }
}
