import { type Family, familyOf } from "../../core/model/address.ts";
import { deepEqual } from "../../core/model/equal.ts";
import type { Listener } from "../../core/model/listener.ts";
import { keyOf } from "../../core/model/object.ts";
import { groupsOf } from "../../core/model/service.ts";
import type { RouteNode } from "../../core/route/route-node.ts";
import type { ChangedKeys, FullState } from "../../core/sinks/fullstate.ts";
import { isForTheKernel } from "../is-for-the-kernel.ts";
import { createPlanContext, type PlanContext } from "../plan-context.ts";
import { chooseScheduler } from "./plan/balancing.ts";
import { InsideMarks } from "./plan/inside-marks.ts";
import { excludedLimits, limitsOfService } from "./plan/limits.ts";
import type { ServiceWithEndpoints } from "./plan/service-info.ts";
import { hostAddresses, serviceInfos } from "./plan/service-infos.ts";
import type { IpvsSettings } from "./settings.ts";

/** What is to be told to the controller of a family. */
export interface PlannedChange {
  readonly context: PlanContext;
  /** The infos of each service that may have changed; none where it is gone. */
  readonly services: ReadonlyMap<string, readonly ServiceWithEndpoints[]>;
}

/** Turns the state of the node into what handlers take, for the services that a change touches. */
export class ServicePlanner {
  readonly #settings: IpvsSettings;
  readonly #nodeName: string;
  readonly #families: readonly Family[];
  readonly marks: InsideMarks;
  #contexts: ReadonlyMap<Family, PlanContext> = new Map();
  /** The services that listeners of this node lead to, by the listener. */
  readonly #listeners = new Map<string, string>();
  readonly #byService = new Map<string, Set<string>>();
  readonly #limits = new Map<string, readonly string[]>();
  /** Services that listeners came to, went from or changed at, since the last time it was asked. */
  #moved = new Set<string>();

  constructor(settings: IpvsSettings, nodeName: string, families: readonly Family[]) {
    this.#settings = settings;
    this.#nodeName = nodeName;
    this.#families = families;
    this.marks = new InsideMarks(settings.masqueradeBit);
  }

  /** What can not be done of what is asked, by the service or listener. */
  limits(): ReadonlyMap<string, readonly string[]> {
    return this.#limits;
  }

  /** Whether node ports answer on an address. */
  answersNodePorts(ip: string): boolean {
    const context = this.#contexts.get(familyOf(ip));
    return context?.nodePortDestinations.some((network) => network.startsWith(`${ip}/`)) === true;
  }

  /** The listeners of this node that lead to a service, as far as the kernel serves them. */
  listenersOf(key: string, state: FullState): readonly Listener[] {
    return this.#listenersTo(key, state).filter(isForTheKernel);
  }

  /** The services whose listeners changed since the last call. */
  takeMoved(): ReadonlySet<string> {
    const moved = this.#moved;
    this.#moved = new Set();
    return moved;
  }

  plan(state: FullState, changed: ChangedKeys): ReadonlyMap<Family, PlannedChange> {
    const moved = this.#indexListeners(state, changed);
    for (const key of moved) this.#moved.add(key);
    const contexts = new Map(
      this.#families.map((family) => [family, this.#contextOf(family, state)] as const),
    );
    const isNew = !deepEqual([...contexts], [...this.#contexts]);
    this.#contexts = contexts;
    const keys = isNew
      ? new Set([...state.services.keys(), ...this.#byService.keys()])
      : this.#touched(state, changed);
    for (const key of [...changed.services, ...moved]) keys.add(key);
    for (const key of keys) this.#noteLimits(key, state);
    const planned = new Map(
      [...contexts].map(([family, context]) => {
        const services = this.#infosOf(keys, context, state);
        return [family, { context, services }] as const;
      }),
    );
    this.#freeMarks(keys, [...planned.values()]);
    return planned;
  }

  /** Families share the marks of a service. */
  #freeMarks(keys: ReadonlySet<string>, planned: readonly PlannedChange[]): void {
    for (const key of keys) {
      const infos = planned.flatMap(({ services }) => services.get(key) ?? []);
      const entrances = infos.flatMap(({ service }) => service.entrances);
      this.marks.keepOnly(key, new Set(entrances.flatMap(({ insideMark }) => insideMark ?? [])));
    }
  }

  #contextOf(family: Family, state: FullState): PlanContext {
    const { policy, masqueradeBit, workloadInterfaces } = this.#settings;
    const known = state.further.nodes.get(this.#nodeName);
    const { zone = "", addresses = [], subnets = [] } = known ?? {};
    const node: RouteNode = { name: this.#nodeName, zone, addresses, subnets };
    const fixed = { policy, masqueradeBit, workloadInterfaces, isLarge: false };
    return createPlanContext({ family, node, ...fixed, isLiberal: true });
  }

  #infosOf(
    keys: ReadonlySet<string>,
    context: PlanContext,
    state: FullState,
  ): ReadonlyMap<string, readonly ServiceWithEndpoints[]> {
    const { groups } = state.further;
    const facts = {
      context,
      marks: this.marks,
      securityGroups: state.further["security-groups"],
      isExcluded: this.#settings.isExcluded,
    };
    const infos = new Map<string, readonly ServiceWithEndpoints[]>();
    for (const key of keys) {
      const entry = state.services.get(key);
      const listeners = this.listenersOf(key, state);
      const otherwise = this.#settings.scheduler;
      const scheduler =
        entry === undefined
          ? otherwise
          : chooseScheduler(entry.service.service, groups, otherwise).scheduler;
      infos.set(key, serviceInfos({ key, entry, scheduler, listeners }, facts));
    }
    return infos;
  }

  #listenersTo(key: string, state: FullState): readonly Listener[] {
    const paths = [...(this.#byService.get(key) ?? [])].sort();
    return paths.flatMap((path) => state.further.listeners.get(path) ?? []);
  }

  #noteLimits(key: string, state: FullState): void {
    const entry = state.services.get(key);
    const { isExcluded } = this.#settings;
    const unserved = this.#listenersTo(key, state).filter((one) => !isForTheKernel(one));
    const limits = [
      ...(entry === undefined
        ? []
        : [
            ...limitsOfService(entry, state.further.groups, this.#settings.scheduler),
            ...excludedLimits(entry.service.service, this.#nodePortAddresses(), isExcluded),
          ]),
      ...this.listenersOf(key, state)
        .filter(({ address }) => isExcluded(address))
        .map((one) => `${one.address} is in --ipvs-exclude-cidrs: ${keyOf(one)} is not served`),
      ...unserved.map((one) => `rules do not read packets: listener ${keyOf(one)} is not served`),
    ];
    if (limits.length === 0) this.#limits.delete(key);
    else this.#limits.set(key, limits);
  }

  #nodePortAddresses(): readonly string[] {
    const contexts = [...this.#contexts.values()];
    return contexts.flatMap(({ nodePortDestinations }) => hostAddresses(nodePortDestinations));
  }

  /** @returns the services that listeners lead to, or led to before */
  #indexListeners({ further }: FullState, changed: ChangedKeys): ReadonlySet<string> {
    const moved = new Set<string>();
    for (const path of changed.further.listeners) {
      const before = this.#listeners.get(path);
      if (before !== undefined) {
        this.#byService.get(before)?.delete(path);
        if (this.#byService.get(before)?.size === 0) this.#byService.delete(before);
        this.#listeners.delete(path);
        moved.add(before);
      }
      const listener = further.listeners.get(path);
      if (listener === undefined || !this.#isHere(listener)) continue;
      const paths = this.#byService.get(listener.service) ?? new Set();
      this.#byService.set(listener.service, paths.add(path));
      this.#listeners.set(path, listener.service);
      moved.add(listener.service);
    }
    return moved;
  }

  #isHere({ node }: Listener): boolean {
    return node === "" || node === this.#nodeName;
  }

  /** Services of groups that changed, and of listeners whose security groups did. */
  #touched(state: FullState, changed: ChangedKeys): Set<string> {
    const keys = new Set<string>();
    const { groups, "security-groups": guards } = changed.further;
    if (groups.size > 0) {
      for (const [key, { service }] of state.services) {
        if (groupsOf(service.service).some(({ group }) => groups.has(group))) keys.add(key);
      }
    }
    if (guards.size > 0) {
      for (const [path, key] of this.#listeners) {
        const listener = state.further.listeners.get(path);
        if (listener !== undefined && guards.has(listener.securityGroup)) keys.add(key);
      }
    }
    return keys;
  }
}
