import { familyOf, isLoopback, isWildcard } from "../../core/model/address.ts";
import type { Listener } from "../../core/model/listener.ts";
import { keyOf } from "../../core/model/object.ts";
import type { SecurityGroup } from "../../core/model/security-group.ts";
import type { SetHandler } from "../../core/sinks/decoder.ts";
import { isForTheKernel } from "../is-for-the-kernel.ts";
import type { ListenerPlans } from "./plan/plan-listeners.ts";

/** Listeners of this node and who may call them, by the services that they lead to. */
export class ListenerTracker {
  readonly #nodeName: string;
  readonly #listeners = new Map<string, Listener>();
  readonly #byService = new Map<string, Set<string>>();
  readonly #groups = new Map<string, SecurityGroup>();
  readonly #changed = new Set<string>();

  constructor(nodeName: string) {
    this.#nodeName = nodeName;
  }

  readonly listeners: SetHandler<Listener> = {
    set: (path, listener) => {
      this.#remove(path);
      if (listener.node !== "" && listener.node !== this.#nodeName) return;
      this.#listeners.set(path, listener);
      const paths = this.#byService.get(listener.service) ?? new Set<string>();
      this.#byService.set(listener.service, paths.add(path));
      this.#changed.add(listener.service);
    },
    delete: (path) => this.#remove(path),
  };

  readonly securityGroups: SetHandler<SecurityGroup> = {
    set: (path, group) => {
      this.#groups.set(path, group);
      this.#touchUsersOf(path);
    },
    delete: (path) => {
      this.#groups.delete(path);
      this.#touchUsersOf(path);
    },
  };

  /** Services that any of them leads to. */
  services(): Iterable<string> {
    return this.#byService.keys();
  }

  /** Those to a service that rules can serve. */
  plansFor(service: string): ListenerPlans {
    const paths = [...(this.#byService.get(service) ?? [])].sort();
    const listeners = paths
      .map((path) => this.#listeners.get(path))
      .filter((listener) => listener !== undefined)
      .filter(isForTheKernel);
    return { listeners, securityGroups: this.#groups };
  }

  /** Whether one answers on a loopback address of IPv4, or on all addresses, which it is among. */
  get answersOnLoopback(): boolean {
    return [...this.#listeners.values()].some(
      (listener) => isForTheKernel(listener) && isOnLoopback(listener.address),
    );
  }

  /** Those that rules can not serve, by name. */
  unserved(): readonly string[] {
    return [...this.#listeners.values()].filter((one) => !isForTheKernel(one)).map(keyOf);
  }

  /** The services whose listeners, or who may call them, changed since the last call. */
  takeChanged(): readonly string[] {
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  clear(): void {
    for (const path of [...this.#listeners.keys()]) this.#remove(path);
    this.#groups.clear();
  }

  #remove(path: string): void {
    const before = this.#listeners.get(path);
    if (before === undefined) return;
    this.#listeners.delete(path);
    const paths = this.#byService.get(before.service);
    paths?.delete(path);
    if (paths?.size === 0) this.#byService.delete(before.service);
    this.#changed.add(before.service);
  }

  #touchUsersOf(group: string): void {
    for (const { securityGroup, service } of this.#listeners.values()) {
      if (securityGroup === group) this.#changed.add(service);
    }
  }
}

function isOnLoopback(address: string): boolean {
  return familyOf(address) === "v4" && (isWildcard(address) || isLoopback(address));
}
