import { deepEqual } from "../model/equal.ts";
import type { ModelObject } from "../model/object.ts";
import type { GlobalStore, NodeCursor } from "../store/global-store.ts";
import type { Befores } from "../store/history.ts";
import type { GlobalState, ServiceState } from "../store/state.ts";
import { OpBatch, SET_ORDER } from "./op-batch.ts";
import { type Op, RESET, type SetName, SYNC } from "./ops.ts";
import { otherSetOp } from "./other-sets.ts";
import type { NodePlace } from "./select.ts";
import {
  type EndpointOp,
  type ServiceView,
  sameNodeEndpoint,
  sameNodeService,
  serviceOp,
  viewService,
} from "./service-plan.ts";

/** What a look at the store came to: the whole state, or differences that `work` puts into `batch`. */
type Look =
  | { readonly kind: "whole"; readonly ops: Iterable<Op> }
  | { readonly kind: "difference"; readonly batch: OpBatch; readonly work: Iterable<number> };

/** A service before and after; undefined where it is not there. */
type Touched = readonly [ServiceState | undefined, ServiceState | undefined];

const NOTHING: ReadonlySet<string> = new Set();

/** After about so many endpoints others have their turn. */
const ENDPOINTS_A_TURN = 1000;

/**
 * The changes of one node's view. It holds a place in the store's history and no copy of the state: a
 * change is the difference between what touched services looked like at that place and now.
 */
export class NodeWatcher {
  readonly #store: GlobalStore;
  readonly #nodeName: string;
  readonly #sets: ReadonlySet<SetName>;
  readonly #cursor: NodeCursor;
  readonly #pause: (() => Promise<void>) | undefined;
  /** Keys of the services that it is told of; undefined: all. */
  #interest: ReadonlySet<string> | undefined;
  /** The same at the last change. */
  #toldOf: ReadonlySet<string> | undefined;
  /** Where the node stood at the last change; undefined before the first. */
  #place: NodePlace | undefined;
  #revision = 0;

  /**
   * @param sets those wanted beyond services and endpoints
   * @param pause lets others have their turn while a large change is worked out by `next`
   * @param interest keys of the only services that it is told of; undefined: all
   */
  constructor(
    store: GlobalStore,
    nodeName: string,
    sets: readonly SetName[] = [],
    pause?: () => Promise<void>,
    interest?: ReadonlySet<string>,
  ) {
    this.#pause = pause;
    this.#interest = interest;
    this.#store = store;
    this.#nodeName = nodeName;
    this.#sets = new Set(sets);
    this.#cursor = store.nodeCursor();
  }

  /** From the next look on it is told of these services only; what it has to learn or forget for that is a change. */
  setInterest(interest: ReadonlySet<string>): void {
    this.#interest = interest;
  }

  /** The revision of the state at the last look: what was given brings the node up to it. */
  get revision(): number {
    return this.#revision;
  }

  /**
   * The next change, ending with `sync`; undefined where nothing is new for this node. The first one,
   * and one after the watcher fell too far behind, is the whole state and begins with `reset`; the
   * first comes for an empty state too, once every source is synced.
   */
  poll(): readonly Op[] | undefined {
    const ops = this.pollLazily();
    return ops && Array.from(ops);
  }

  /**
   * The same, to be gone through once. A whole state is worked out only as it is read, from the state
   * as it was at the call: a slow reader holds no list of it.
   */
  pollLazily(): Iterable<Op> | undefined {
    const look = this.#look();
    if (look?.kind !== "difference") return look?.ops;
    for (const _ of look.work);
    return opsOf(look.batch);
  }

  /** The same with pauses; what it gives is of the moment of the call. */
  async #pollSlowly(pause: () => Promise<void>): Promise<Iterable<Op> | undefined> {
    const look = this.#look();
    if (look?.kind !== "difference") return look?.ops;
    let done = 0;
    for (const endpoints of look.work) {
      done += endpoints;
      if (done < ENDPOINTS_A_TURN) continue;
      done = 0;
      await pause();
    }
    return opsOf(look.batch);
  }

  /** Moves to the present. */
  #look(): Look | undefined {
    const from = this.#place;
    if (from === undefined && !this.#store.isSynced()) return undefined;
    const isPresent = from !== undefined && this.#revision === this.#store.revision;
    if (isPresent && this.#toldOf === this.#interest) return undefined;
    const state = this.#store.state();
    const services = this.#cursor.services.advance();
    const others = this.#cursor.others.advance();
    const to = placeOf(state, this.#nodeName);
    const [toldOf, interest] = [this.#toldOf, this.#interest];
    this.#toldOf = interest;
    this.#place = to;
    this.#revision = state.revision;
    if (from === undefined || services === undefined || others === undefined) {
      return { kind: "whole", ops: this.#whole(state, to) };
    }
    const batch = new OpBatch();
    for (const { kind, key, object } of others.values()) {
      this.#addOther(batch, object, this.#store.get(kind, key));
    }
    const touched = from.zone === to.zone ? touchedBy(state, services) : all(state, services);
    const told =
      interest === undefined ? touched : withInterest(touched, state, toldOf ?? NOTHING, interest);
    return { kind: "difference", batch, work: addTouched(batch, told, from, to) };
  }

  /**
   * @param onNothingNew called with each revision that brings nothing new for this node
   * @throws CoreError ERR_ABORTED when the signal ends the wait
   */
  async next(
    signal?: AbortSignal,
    onNothingNew?: (revision: number) => void,
  ): Promise<readonly Op[]> {
    return Array.from(await this.nextLazily(signal, onNothingNew));
  }

  /**
   * @param onNothingNew called with each revision that brings nothing new for this node
   * @throws CoreError ERR_ABORTED when the signal ends the wait
   */
  async nextLazily(
    signal?: AbortSignal,
    onNothingNew?: (revision: number) => void,
  ): Promise<Iterable<Op>> {
    for (;;) {
      const ops = this.#pause ? await this.#pollSlowly(this.#pause) : this.pollLazily();
      if (ops !== undefined) return ops;
      if (this.#place !== undefined) onNothingNew?.(this.#revision);
      await this.#store.changed(signal);
      if (this.#pause) await this.#pause();
    }
  }

  close(): void {
    this.#cursor.services.close();
    this.#cursor.others.close();
  }

  #whole(state: GlobalState, place: NodePlace): Iterable<Op> {
    const batch = new OpBatch();
    const { listeners, nodes, securityGroups, certificates } = state;
    for (const table of [listeners, nodes, securityGroups, certificates]) {
      for (const object of table.values()) this.#addOther(batch, undefined, object);
    }
    for (const { group } of state.groups.values()) this.#addOther(batch, undefined, group);
    const interest = this.#interest;
    const services =
      interest === undefined
        ? [...state.services.values()]
        : [...interest].flatMap((key) => state.services.get(key) ?? []);
    return wholeOps(batch, services, place);
  }

  #addOther(batch: OpBatch, before: ModelObject | undefined, after: ModelObject | undefined): void {
    const old = otherSetOp(before, this.#nodeName);
    const now = otherSetOp(after, this.#nodeName);
    const set = (now ?? old)?.set;
    if (set === undefined || !this.#sets.has(set) || deepEqual(old, now)) return;
    if (now !== undefined) batch.set(now);
    else if (old !== undefined) batch.delete(old.set, old.path);
  }
}

/** @param others the operations of all other sets */
function* wholeOps(
  others: OpBatch,
  services: readonly ServiceState[],
  place: NodePlace,
): Generator<Op> {
  yield RESET;
  for (const set of SET_ORDER) {
    if (set === "services") {
      for (const service of sortedBy(services, ({ key }) => key)) yield serviceOp(service);
    } else if (set === "endpoints") {
      // By what their endpoints' paths begin with: then these come in order without being sorted.
      for (const service of sortedBy(services, ({ key }) => `${key}/`)) {
        yield* viewService(service, place).endpoints;
      }
    } else yield* others.sets(set);
  }
  yield SYNC;
}

function sortedBy(
  services: readonly ServiceState[],
  pathOf: (state: ServiceState) => string,
): readonly ServiceState[] {
  return services
    .map((state) => ({ state, path: pathOf(state) }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ state }) => state);
}

function placeOf(state: GlobalState, name: string): NodePlace {
  return { name, zone: state.nodes.get(name)?.zone ?? "" };
}

function opsOf(batch: OpBatch): readonly Op[] | undefined {
  return batch.isEmpty ? undefined : batch.ops();
}

function touchedBy(
  state: GlobalState,
  befores: Befores<ServiceState | undefined>,
): readonly Touched[] {
  return [...befores].map(([key, before]) => [before, state.services.get(key)]);
}

/** The node itself moved: every service may look different from there. */
function all(state: GlobalState, befores: Befores<ServiceState | undefined>): readonly Touched[] {
  const gone = [...befores].filter(([key]) => !state.services.has(key));
  return [
    ...[...state.services.values()].map((service): Touched => {
      const { key } = service;
      return [befores.has(key) ? befores.get(key) : service, service];
    }),
    ...gone.map(([, before]): Touched => [before, undefined]),
  ];
}

/** What was not told before counts as not there before, what is not to be told any more as gone. */
function withInterest(
  touched: readonly Touched[],
  state: GlobalState,
  before: ReadonlySet<string>,
  after: ReadonlySet<string>,
): readonly Touched[] {
  const told: Touched[] = [];
  const seen = new Set<string>();
  for (const [old, now] of touched) {
    const key = (old ?? now)?.key ?? "";
    seen.add(key);
    const pair: Touched = [before.has(key) ? old : undefined, after.has(key) ? now : undefined];
    if (pair[0] !== undefined || pair[1] !== undefined) told.push(pair);
  }
  const isNews = (key: string): boolean => before.has(key) !== after.has(key) && !seen.has(key);
  for (const key of before === after ? [] : [...before, ...after].filter(isNews)) {
    const service = state.services.get(key);
    told.push(after.has(key) ? [undefined, service] : [service, undefined]);
  }
  return told;
}

/** Goes on when it is asked for the next; gives how many endpoints it went through. */
function* addTouched(
  batch: OpBatch,
  touched: readonly Touched[],
  from: NodePlace,
  to: NodePlace,
): Generator<number> {
  const isHere = from.zone === to.zone;
  for (const [before, after] of touched) {
    if (isHere && before === after) continue;
    const old = before && viewService(before, from);
    const now = after && viewService(after, to);
    addDiff(batch, old, now);
    yield (old?.endpoints.length ?? 0) + (now?.endpoints.length ?? 0) + 1;
  }
}

function addDiff(
  batch: OpBatch,
  before: ServiceView | undefined,
  after: ServiceView | undefined,
): void {
  if (after === undefined) {
    if (before !== undefined) batch.delete("services", before.service.path);
  } else if (before === undefined || !sameNodeService(before.service.value, after.service.value)) {
    batch.set(after.service);
  }
  addEndpoints(batch, before?.endpoints ?? [], after?.endpoints ?? []);
}

/** Walks both lists, which ascend by path, side by side. */
function addEndpoints(
  batch: OpBatch,
  before: readonly EndpointOp[],
  after: readonly EndpointOp[],
): void {
  let at = 0;
  for (const op of after) {
    let old = before[at];
    while (old !== undefined && old.path < op.path) {
      batch.delete("endpoints", old.path);
      at += 1;
      old = before[at];
    }
    if (old?.path !== op.path) batch.set(op);
    else {
      at += 1;
      if (!sameNodeEndpoint(old.value, op.value)) batch.set(op);
    }
  }
  for (; at < before.length; at += 1) batch.delete("endpoints", before[at]?.path ?? "");
}
