import { messageOf } from "../core/errors.ts";
import { keyOf } from "../core/model/object.ts";
import type { GlobalStore } from "../core/store/global-store.ts";
import type { GlobalState } from "../core/store/state.ts";
import { MESH_OWNER } from "./mesh-owner.ts";
import {
  basisOfServers,
  type Following,
  followedGroups,
  serversOfService,
} from "./servers-of-service.ts";

export interface GroupDelegateOptions {
  readonly store: GlobalStore;
  readonly following: Following;
  /** Told when something has changed. */
  readonly onChange: () => void;
}

/** Keeps a server group equal to the healthy instances of a service. */
export class SmartGroupDelegate {
  readonly #options: GroupDelegateOptions;
  readonly #unfollow: () => void;
  #keys: readonly string[] = [];
  /** What was last looked at. */
  #basis: readonly unknown[] = [];
  #problem = "";
  #isAsked = false;
  #isClosed = false;

  constructor(options: GroupDelegateOptions) {
    this.#options = options;
    // Its own change is followed as well: then nothing differs.
    this.#unfollow = options.store.onCommit(() => this.#ask());
    this.#look();
  }

  get status(): "following" | "waiting" {
    return this.#problem === "" ? "following" : "waiting";
  }

  /** Names of the servers that it has put there. */
  get servers(): readonly string[] {
    return this.#keys.map((key) => key.slice(key.lastIndexOf("/") + 1));
  }

  get problem(): string {
    return this.#problem;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#unfollow();
    this.#write([]);
  }

  /** Many transactions in one go are looked at once, and never within one. */
  #ask(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    queueMicrotask(() => {
      this.#isAsked = false;
      if (!this.#isClosed) this.#look();
    });
  }

  #look(): void {
    const { store, following, onChange } = this.#options;
    const before = `${this.#problem}\n${this.#keys.join()}`;
    const state = store.state();
    const basis = basisOfServers(state, following);
    // An instance has many of them, and most changes are those of others.
    if (this.#problem === "" && isSame(basis, this.#basis)) return;
    this.#basis = basis;
    this.#problem = obstacle(state, following);
    this.#write(this.#problem === "" ? serversOfService(state, following) : []);
    if (before !== `${this.#problem}\n${this.#keys.join()}`) onChange();
  }

  /** One transaction, and only what differs. */
  #write(servers: ReturnType<typeof serversOfService>): void {
    const { store } = this.#options;
    const wanted = new Map(servers.map((server) => [keyOf(server), server]));
    const gone = this.#keys.filter((key) => !wanted.has(key));
    if (wanted.size + gone.length === 0) return;
    try {
      const { refused } = store.transactFitting(MESH_OWNER, (transaction) => {
        for (const key of gone) transaction.delete("Endpoint", key);
        for (const server of wanted.values()) transaction.set(server);
      });
      const left = new Set(refused.map(({ key }) => key));
      this.#keys = [...wanted.keys()].filter((key) => !left.has(key));
      const [first] = refused;
      if (first !== undefined) this.#problem = `${first.what} is held by ${first.heldBy}`;
    } catch (error) {
      this.#problem = messageOf(error);
    }
  }
}

function isSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((part, index) => part === b[index]);
}

/** Why nothing can be followed; empty where it can. */
function obstacle(state: Pick<GlobalState, "services" | "groups">, following: Following): string {
  const { service, serverGroup } = following;
  if (state.groups.get(serverGroup)?.group === undefined) {
    return `server-group ${serverGroup} is not there`;
  }
  // All instances, of whichever zone, are its servers already: nothing could be chosen from them.
  return followedGroups(state, following).length === 0
    ? `server-group ${serverGroup} is where the instances of service ${service} are; expected another one`
    : "";
}
