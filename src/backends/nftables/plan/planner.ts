import {
  FAMILIES,
  type Family,
  familyOf,
  isLoopback,
  isWildcard,
} from "../../../core/model/address.ts";
import { EMPTY } from "../../../core/model/common.ts";
import type { Listener } from "../../../core/model/listener.ts";
import { groupsOf } from "../../../core/model/service.ts";
import type { ChangedKeys, FullState, ServiceEndpoints } from "../../../core/sinks/fullstate.ts";
import { selfCallers } from "../../self-callers.ts";
import { listenerFrontends, obstacleOf } from "./listener-frontends.ts";
import { serviceFrontends } from "./service-frontends.ts";
import { chooseMethod, limitsOf } from "./service-limits.ts";
import { type PlanSettings, tableFacts } from "./table-facts.ts";
import { NOTHING_WANTED, TablePlanner, type Wanted } from "./table-planner.ts";

/** Turns the state of a node into what the tables of both families should hold. */
export class Planner {
  readonly tables: readonly TablePlanner[];
  readonly #settings: PlanSettings;
  /** By service or listener: what can not be honoured of it, in words. */
  readonly #limits = new Map<string, readonly string[]>();
  /** The listeners of each service. */
  #listenersOf = new Map<string, Set<string>>();
  /** Services that listeners came to, went from or changed at, since the last time it was asked. */
  #moved = new Set<string>();

  constructor(settings: PlanSettings) {
    this.#settings = settings;
    this.tables = FAMILIES.map(
      (family) => new TablePlanner(tableFacts(family, settings, undefined, false)),
    );
  }

  /** What can not be honoured, with those that it is about. */
  limits(): ReadonlyMap<string, readonly string[]> {
    return this.#limits;
  }

  /** Whether connections to 127.0.0.1 are served, which needs the kernel's leave. */
  get servesLoopback(): boolean {
    return this.tables.some(({ facts }) => facts.family === "v4" && facts.servesLoopback);
  }

  /** The listeners of this node that lead to a service, as far as the kernel serves them. */
  listenersOf(service: string, state: FullState): readonly Listener[] {
    const keys = [...(this.#listenersOf.get(service) ?? EMPTY)];
    return keys
      .flatMap((key) => state.further.listeners.get(key) ?? [])
      .filter((listener) => this.#isHere(listener) && obstacleOf(listener) === undefined);
  }

  /** The services whose listeners changed since the last call. */
  takeMoved(): ReadonlySet<string> {
    const moved = this.#moved;
    this.#moved = new Set();
    return moved;
  }

  update(state: FullState, changed: ChangedKeys): void {
    if (changed.further.listeners.size > 0) this.#indexListeners(state, changed.further.listeners);
    const hasOthers = this.#updateFacts(state);
    const services = hasOthers ? state.services.keys() : servicesTouched(state, changed);
    const listeners = hasOthers
      ? state.further.listeners.keys()
      : this.#listenersTouched(state, changed);
    // Those that are gone are not among the keys of the state.
    const touchedServices = new Set([...services, ...changed.services]);
    const touchedListeners = new Set([...listeners, ...changed.further.listeners]);
    for (const key of touchedServices) this.#replaceService(key, state);
    for (const key of touchedListeners) this.#replaceListener(key, state);
    for (const table of this.tables) table.settle();
  }

  #updateFacts(state: FullState): boolean {
    const node = state.further.nodes.get(this.#settings.nodeName);
    let hasOthers = false;
    for (const table of this.tables) {
      const { family } = table.facts;
      const hasLoopback = [...state.further.listeners.values()].some((listener) =>
        this.#answersOnLoopback(listener, family),
      );
      const isOther = table.setFacts(tableFacts(family, this.#settings, node, hasLoopback));
      hasOthers ||= isOther;
    }
    return hasOthers;
  }

  #answersOnLoopback(listener: Listener, family: Family): boolean {
    const { address, node } = listener;
    return (
      (isWildcard(address) || isLoopback(address)) &&
      familyOf(address) === family &&
      (node === "" || node === this.#settings.nodeName) &&
      obstacleOf(listener) === undefined
    );
  }

  #replaceService(key: string, state: FullState): void {
    const item = state.services.get(key);
    const claimant = `service ${key}`;
    const limits = item === undefined ? EMPTY : limitsOf(item, state.further.groups);
    this.#setLimits(`Service ${key}`, limits);
    for (const table of this.tables) {
      table.replace(claimant, item === undefined ? NOTHING_WANTED : wantedOf(item, table, state));
    }
  }

  #replaceListener(key: string, state: FullState): void {
    const listener = state.further.listeners.get(key);
    const claimant = `listener ${key}`;
    const obstacle = listener && this.#isHere(listener) ? obstacleOf(listener) : undefined;
    this.#setLimits(`Listener ${key}`, obstacle === undefined ? EMPTY : [obstacle]);
    for (const table of this.tables) {
      table.replace(
        claimant,
        listener === undefined ? NOTHING_WANTED : this.#wantedBy(listener, table, state),
      );
    }
  }

  #isHere({ node }: Listener): boolean {
    return node === "" || node === this.#settings.nodeName;
  }

  #wantedBy(listener: Listener, { facts }: TablePlanner, state: FullState): Wanted {
    const item = state.services.get(listener.service);
    const { groups } = state.further;
    const frontends = listenerFrontends(
      {
        listener,
        item,
        method: item === undefined ? "random" : chooseMethod(item, groups),
        securityGroup: state.further["security-groups"].get(listener.securityGroup),
      },
      facts,
    );
    return frontends.length === 0 ? NOTHING_WANTED : { ...NOTHING_WANTED, frontends };
  }

  #setLimits(subject: string, limits: readonly string[]): void {
    if (limits.length === 0) this.#limits.delete(subject);
    else this.#limits.set(subject, limits);
  }

  #indexListeners(state: FullState, changed: ReadonlySet<string>): void {
    const before = this.#listenersOf;
    this.#listenersOf = new Map();
    for (const [key, { service }] of state.further.listeners) {
      const keys = this.#listenersOf.get(service) ?? new Set();
      this.#listenersOf.set(service, keys.add(key));
    }
    for (const [service, keys] of [...before, ...this.#listenersOf]) {
      if ([...keys].some((key) => changed.has(key))) this.#moved.add(service);
    }
  }

  *#listenersTouched(state: FullState, changed: ChangedKeys): Generator<string> {
    for (const key of servicesTouched(state, changed)) yield* this.#listenersOf.get(key) ?? EMPTY;
    const guards = changed.further["security-groups"];
    if (guards.size === 0) return;
    for (const [key, { securityGroup }] of state.further.listeners) {
      if (guards.has(securityGroup)) yield key;
    }
  }
}

/** Those that changed, and those of a group that did. */
export function* servicesTouched(state: FullState, changed: ChangedKeys): Generator<string> {
  yield* changed.services;
  const { groups } = changed.further;
  if (groups.size === 0) return;
  for (const [key, { service }] of state.services) {
    if (groupsOf(service.service).some(({ group }) => groups.has(group))) yield key;
  }
}

function wantedOf(item: ServiceEndpoints, { facts }: TablePlanner, state: FullState): Wanted {
  const { family } = facts;
  const { service } = item.service;
  const method = chooseMethod(item, state.further.groups);
  return {
    frontends: serviceFrontends(item, method, facts),
    clusterIPs: service.clusterIPs.filter((ip) => familyOf(ip) === family),
    hairpins: [...selfCallers(item)].filter((ip) => familyOf(ip) === family),
  };
}
