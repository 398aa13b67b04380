import { CoreError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { EngineChannels } from "../engine-channels.ts";
import { EMPTY_ENGINE_CONFIG, type EngineConfig, type ListenerConfig } from "../engine-config.ts";
import type { EngineNames } from "../engine-names.ts";
import type { EngineStats, ServerCounts } from "../engine-stats.ts";
import type { Change, EngineReport } from "../loop/engine-messages.ts";
import { CounterBlocks } from "../stats/counter-blocks.ts";
import type { TrafficCounts } from "../stats/counter-row.ts";
import { buildState, ownersOf, problemOf } from "./build-state.ts";
import { CheckingLoop } from "./checking-loop.ts";
import {
  EMPTY_STATE,
  type EngineState,
  keepListeners,
  planChanges,
  planRemovals,
} from "./engine-state.ts";
import type { Fleet, FleetEvents } from "./fleet.ts";
import { FleetChannels } from "./fleet-channels.ts";
import { HealthBoard, type MemberHealth, type OnHealth, UNCHECKED } from "./health-board.ts";
import { KnownNames } from "./known-names.ts";
import { type ListenerProblem, ListenerSockets } from "./listener-sockets.ts";
import { type FailedChange, LoopChanges } from "./loop-changes.ts";
import { type EngineLoops, LoopControl } from "./loop-control.ts";
import { LoopRoutes } from "./loop-routes.ts";
import { NameBook } from "./name-book.ts";
import { readServerCounts, readStats } from "./read-stats.ts";
import { RowBook } from "./row-book.ts";

export interface ProxyEngineOptions {
  readonly log: Log;
  readonly drainTimeoutMs: number;
  /** All addresses of a host name; rejects where there are none. */
  readonly lookup: (name: string) => Promise<readonly string[]>;
  /** Does not keep the process from ending. */
  readonly sleep: (ms: number) => Promise<void>;
  /** Somebody else still serves: it takes no clients before it knows which servers are up. */
  readonly checksFirst: boolean;
  readonly startFleet: (events: FleetEvents) => Promise<Fleet>;
}

/** A server of which nothing is known by then is as good as down. */
const CHECK_PATIENCE_MS = 5000;
const CHECK_STEP_MS = 20;

/** The main thread's part of an `Engine`: says what the loops shall do, and passes on what they tell each other. */
export class ProxyEngine implements FleetEvents {
  readonly loops: EngineLoops;
  readonly channels: EngineChannels;
  readonly #options: ProxyEngineOptions;
  readonly #blocks = new CounterBlocks(0);
  readonly #rows: RowBook;
  readonly #board = new HealthBoard();
  readonly #names: NameBook;
  readonly #known: KnownNames;
  readonly #onHealth = new Set<OnHealth>();
  readonly #sockets = new ListenerSockets();
  readonly #changes: LoopChanges;
  readonly #checking = new CheckingLoop();
  #fleet: Fleet | undefined;
  #config: EngineConfig = EMPTY_ENGINE_CONFIG;
  #state: EngineState = EMPTY_STATE;
  #isFirst = true;
  /** Another process serves its sockets. */
  #isReleased = false;
  /** One thing at a time: each starts from where the one before left the loops. */
  #work: Promise<unknown> = Promise.resolve();

  static async start(options: ProxyEngineOptions): Promise<ProxyEngine> {
    const engine = new ProxyEngine(options);
    const fleet = await options.startFleet(engine);
    engine.#fleet = fleet;
    for (const place of fleet.places()) engine.#blocks.ensureLoops(place + 1);
    engine.#checking.follow(fleet);
    return engine;
  }

  private constructor(options: ProxyEngineOptions) {
    this.#options = options;
    this.loops = new LoopControl({
      fleet: () => this.#running,
      inTurn: (task) => this.#inTurn(task),
      update: () => this.#update(),
      drainTimeoutMs: options.drainTimeoutMs,
    });
    this.#rows = new RowBook(this.#blocks);
    this.#changes = new LoopChanges(this.#blocks);
    this.#names = new NameBook({
      lookup: options.lookup,
      sleep: options.sleep,
      log: options.log,
      onChanged: () => void this.#inTurn(() => this.#update()),
    });
    this.channels = new FleetChannels(() => this.#running);
    this.#known = new KnownNames(() => this.#running, this.#names);
  }

  get names(): EngineNames {
    return this.#known;
  }

  apply(config: EngineConfig): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#isReleased) return;
      const refused = config.listeners.flatMap(refusalOf);
      const listeners = config.listeners.filter((one) => problemOf(one) === undefined);
      await this.#names.follow(config.groups.flatMap(({ servers }) => servers.map(hostOf)));
      if (this.#isFirst && this.#options.checksFirst) await this.#check(config);
      this.#isFirst = false;
      this.#config = { ...config, listeners };
      const problems = [...refused, ...(await this.#update())];
      this.#fleet?.closeUnclaimed();
      if (problems.length > 0) throw notListening(problems);
    });
  }

  stats(): EngineStats {
    return {
      loops: this.#fleet?.stats() ?? [],
      ...readStats({
        config: this.#config,
        state: this.#state,
        blocks: this.#blocks,
        addressOf: (listener) => this.#sockets.addressOf(listener),
        healthOf: (group, server) => this.#board.of(group, server),
      }),
    };
  }

  listenerCounts(listener: string): TrafficCounts | undefined {
    const row = this.#state.listeners.get(listener)?.row;
    return row === undefined ? undefined : this.#blocks.counts(row);
  }

  serverCounts(group: string, server: string): ServerCounts | undefined {
    const row = this.#state.groups.get(group)?.servers.get(server)?.row;
    if (row === undefined) return undefined;
    return readServerCounts(row, this.healthOf(group, server), this.#blocks);
  }

  /** Servers may be checked before all of a change is done. */
  healthOf(group: string, server: string): MemberHealth {
    const check = this.#state.groups.get(group)?.healthCheck;
    return check?.protocol === "none" ? UNCHECKED : this.#board.of(group, server);
  }

  onHealth(listener: OnHealth): () => void {
    const told: OnHealth = (change) => listener(change);
    this.#onHealth.add(told);
    return () => this.#onHealth.delete(told);
  }

  unmet(): readonly string[] {
    return new LoopRoutes(this.#fleet?.groups() ?? []).unmet(this.#config.listeners);
  }

  sockets(): ReadonlyMap<string, readonly number[]> {
    return this.#sockets.descriptors();
  }

  release(): Promise<void> {
    return this.#inTurn(async () => {
      this.#isReleased = true;
      await this.#sockets.releaseAll();
    });
  }

  async drain(): Promise<void> {
    await this.#inTurn(async () => {
      await this.#sockets.closeAll();
      await this.#fleet?.drain(this.#options.drainTimeoutMs);
    });
    await this.close();
  }

  close(): Promise<void> {
    return this.#inTurn(async () => {
      this.#names.close();
      await this.#sockets.closeAll();
      const fleet = this.#fleet;
      this.#fleet = undefined;
      await fleet?.close();
    });
  }

  onReport(place: number, report: EngineReport): void {
    switch (report.kind) {
      case "changed":
        this.#changes.answered(report);
        return;
      case "health":
        this.#healthChanged(place, report);
        return;
      case "experience":
      case "stay":
        for (const other of this.#others(place)) this.#fleet?.send(other, report);
        return;
      case "resolve":
        void this.#resolve(place, report.request, report.name);
        return;
      case "cached-names":
        this.#known.answered(report);
        return;
    }
  }

  onLost(place: number): void {
    this.#blocks.loopEnded(place);
    this.#changes.loopLost(place);
    this.#known.loopLost(place);
    this.#checking.lost(place);
    if (this.#fleet !== undefined) this.#checking.follow(this.#fleet);
  }

  async onStarted(place: number): Promise<void> {
    await this.#inTurn(async () => {
      const fleet = this.#fleet;
      if (fleet === undefined) return;
      this.#blocks.ensureLoops(place + 1);
      this.#changes.loopStarted(place);
      const { puts } = planChanges(EMPTY_STATE, this.#state, this.#upOf);
      await this.#changes.tell(fleet, [place], puts);
      this.#changes.shareBlocks(fleet, fleet.places());
    });
  }

  async onJoined(): Promise<void> {
    await this.#inTurn(async () => {
      if (this.#fleet !== undefined) await this.#update();
    });
  }

  get #running(): Fleet {
    if (this.#fleet !== undefined) return this.#fleet;
    throw new CoreError("ERR_LOOP_ENDED", "the engine is closed");
  }

  readonly #upOf = (group: string, member: string): readonly string[] =>
    this.#board.upOf(group, member);

  /** Lets the servers be checked, without listening yet. */
  async #check(config: EngineConfig): Promise<void> {
    this.#config = { ...config, listeners: [] };
    await this.#update();
    const checked = config.groups.filter(({ healthCheck }) => healthCheck.protocol !== "none");
    const isKnown = (): boolean =>
      checked.every(({ key, servers }) =>
        servers.every((server) => this.#board.isSettled(key, server.key)),
      );
    for (let waitedMs = 0; waitedMs < CHECK_PATIENCE_MS && !isKnown(); waitedMs += CHECK_STEP_MS) {
      await this.#options.sleep(CHECK_STEP_MS);
    }
  }

  /** Brings the loops and the sockets to what the configuration says now. */
  async #update(): Promise<readonly ListenerProblem[]> {
    const fleet = this.#running;
    const routes = new LoopRoutes(fleet.groups());
    this.#checking.follow(fleet);
    fleet.link(routes.pairs(this.#config.listeners));
    const next = buildState(this.#config, {
      rowOf: (owner) => this.#rows.rowOf(owner),
      addressesOf: (host) => this.#names.addressesOf(host),
      workersOf: (listener) => routes.of(listener).workers,
    });
    const { puts } = planChanges(this.#state, next, this.#upOf);
    const places = fleet.places();
    const failed = await this.#changes.tell(fleet, places, puts);
    const reached = keepListeners(this.#state, next, failedListeners(failed));
    const placed = [...reached.listeners.values()].map(({ config: listener }) => ({
      listener,
      route: routes.of(listener),
    }));
    const problems = this.#isReleased ? [] : await this.#sockets.follow(placed, fleet);
    const removals = planRemovals(this.#state, reached);
    await this.#changes.tell(fleet, places, removals);
    this.#forget(removals);
    this.#state = reached;
    this.#rows.keepOnly(ownersOf(reached));
    return [...failed.map(problemOfChange), ...problems];
  }

  #forget(removals: readonly Change[]): void {
    for (const removal of removals) {
      if (removal.kind === "server-gone") this.#board.forget(removal.group, removal.member);
      if (removal.kind === "group-gone") this.#board.forgetGroup(removal.key);
    }
  }

  #healthChanged(place: number, report: Extract<EngineReport, { kind: "health" }>): void {
    const { id, edge, reason } = report;
    const { group, member } = id;
    const before = this.#board.of(group, member);
    if (!this.#board.note(id, edge, reason)) return;
    for (const other of this.#others(place)) this.#fleet?.send(other, { kind: "health", id, edge });
    const { log } = this.#options;
    if (edge === "up") log.info(id, "a server is up");
    else log.warn({ ...id, reason }, "a server is down");
    const now = this.#board.of(group, member);
    if (now.health === before.health) return;
    for (const tell of [...this.#onHealth]) tell({ group, server: member, ...now });
  }

  async #resolve(place: number, request: number, name: string): Promise<void> {
    const addresses = await this.#options.lookup(name).catch(() => []);
    this.#fleet?.send(place, { kind: "resolved", request, addresses });
  }

  #others(place: number): readonly number[] {
    return (this.#fleet?.places() ?? []).filter((other) => other !== place);
  }

  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    const done = this.#work.then(task);
    this.#work = done.catch(() => undefined);
    return done;
  }
}

function refusalOf(config: ListenerConfig): readonly ListenerProblem[] {
  const message = problemOf(config);
  return message === undefined ? [] : [{ listener: config.key, message }];
}

/** Only a listener has a name that others know it by. */
function problemOfChange({ change, message }: FailedChange): ListenerProblem {
  return { listener: change.kind === "listener" ? change.config.key : "", message };
}

/** All of them, each once: several loops may say the same. */
function notListening(problems: readonly ListenerProblem[]): CoreError {
  const byMessage = new Map(problems.map((problem) => [problem.message, problem]));
  const each = [...byMessage.values()].map(({ listener, message }) => ({
    path: ["listeners", listener],
    fault: "malformed" as const,
    value: message,
    expected: "an address that can be listened on",
  }));
  return new CoreError("ERR_LISTEN", [...byMessage.keys()].join("\n"), { problems: each });
}

/** The listeners among the changes that failed. */
function failedListeners(failed: readonly FailedChange[]): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const { change } of failed) if (change.kind === "listener") keys.add(change.config.key);
  return keys;
}

function hostOf({ host }: { readonly host: string }): string {
  return host;
}
