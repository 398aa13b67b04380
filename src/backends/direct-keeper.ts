import { setImmediate } from "node:timers/promises";
import { CoreError, messageOf } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import type { MetricFamily } from "../core/metrics/metric-family.ts";
import type { Family } from "../core/model/address.ts";
import type { ServiceEndpoints } from "../core/sinks/fullstate.ts";
import type {
  DirectCgroups,
  DirectCounts,
  DirectPlane,
} from "../platform/linux/direct-connect/direct-plane.ts";
import type { OpenedDirectPlane } from "../platform/linux/direct-connect/open-direct-plane.ts";
import { directClaims } from "./direct-entries.ts";
import { DirectPlan } from "./direct-plan.ts";
import type { DirectSetting } from "./direct-setting.ts";

/** @param cgroups whose processes */
export type OpenDirect = (cgroups: DirectCgroups) => Promise<OpenedDirectPlane>;

/** A service, and whether the rules choose its endpoints at random. */
export interface DirectSubject {
  readonly item: ServiceEndpoints;
  readonly isRandom: boolean;
}

/** By key; undefined where it is gone. */
export type DirectLookup = (key: string) => DirectSubject | undefined;

export interface DirectKeeperOptions extends DirectSetting {
  /** Those that have rules. */
  readonly families: readonly Family[];
  readonly open: OpenDirect;
  readonly log: Log;
  readonly backend: string;
  /** Called when `summary` says something else after `advance`. */
  readonly onStatus?: (() => void) | undefined;
}

const TAKEN_OUT = "others took the programs out, or they went with their cgroup";
const NO_COUNTS: DirectCounts = { translated: 0, missed: 0 };
const OF_ALL = "of this node and its workloads";
/** To work out so many would hold the rules up. */
export const MANY_SERVICES = 5000;

/**
 * Has this node's own processes, and workloads where they are named, connect to endpoints at once, beside
 * rules that are complete without it. Before the rules change, `retreat` takes away what leads to who is
 * gone; when they are in the kernel, `advance` puts in what is new. In between, and wherever something
 * fails, the rules serve.
 */
export class DirectKeeper {
  readonly #options: DirectKeeperOptions;
  readonly #plan = new DirectPlan();
  #plane: DirectPlane | undefined;
  /** Why there is none, where there should be. */
  #why = "";
  /** Services that changed since the plan was told of them, as they were at the last sync. */
  readonly #owed = new Map<string, DirectSubject | undefined>();
  /** Of planes that were closed. */
  #earlier = NO_COUNTS;
  /** It was not possible here; finding that out again takes longer than a sync may. */
  #isImpossible = false;
  #isClosed = false;

  private constructor(options: DirectKeeperOptions) {
    this.#options = options;
  }

  /** @throws CoreError ERR_NOT_POSSIBLE_HERE where it has to work, and can not */
  static async start(options: DirectKeeperOptions): Promise<DirectKeeper> {
    const keeper = new DirectKeeper(options);
    const why = await keeper.#open();
    if (why === undefined) return keeper;
    if (options.mode === "on") {
      throw new CoreError("ERR_NOT_POSSIBLE_HERE", `--direct-connect on: ${why}`);
    }
    keeper.#explain("info", why);
    return keeper;
  }

  /** Whether so much changed that `advance` should not hold up who waits for the rules. */
  get isLate(): boolean {
    return this.#owed.size > MANY_SERVICES;
  }

  /** These changed, or went. */
  retreat(changed: Iterable<string>, lookup: DirectLookup): void {
    if (this.#options.mode === "off") return;
    for (const key of changed) this.#owed.set(key, lookup(key));
    if (this.isLate) {
      this.withdraw("they follow the rules, which were many");
      return;
    }
    this.#settle();
    this.#attempt((plane) => {
      const { removedPlaces, removedLists } = this.#plan.takeRetreats();
      plane.removeFrontends(removedPlaces);
      plane.removeSlots(removedLists);
    });
  }

  /** What was not possible is tried again by the next `advance`: for those who come now and then. */
  forgetObstacle(): void {
    this.#isImpossible = false;
  }

  async advance(): Promise<void> {
    const before = this.summary();
    await this.#advance();
    if (this.summary() !== before) this.#options.onStatus?.();
  }

  async #advance(): Promise<void> {
    // Whoever waits for the rules hears of them first.
    if (this.isLate) await setImmediate();
    this.#settle();
    this.#attempt((plane) => {
      if (plane.isAttached()) return;
      this.withdraw(TAKEN_OUT);
      this.#tell("warn", TAKEN_OUT);
    });
    const isBack = this.#plane === undefined && this.#why !== "";
    const why = await this.#open();
    if (why !== undefined) this.#explain("info", why);
    const before = this.#plan.unfit;
    this.#attempt((plane) => {
      const changes = this.#plan.takeChanges();
      plane.removeFrontends(changes.removedPlaces);
      plane.writeSlots(changes.lists);
      plane.setFrontends(changes.frontends);
      plane.removeSlots(changes.removedLists);
      this.#why = "";
    });
    const { unfit } = this.#plan;
    if (unfit > 0 && before === 0) this.#tell("warn", `${unfit} addresses do not fit in`);
    if (isBack && this.#plane !== undefined)
      this.#tell("info", `to ${this.#plan.size} addresses now`);
  }

  /** For people, as a part of a line. */
  summary(): string {
    const { mode, cgroups } = this.#options;
    if (mode === "off") return "direct connections off";
    if (this.#plane === undefined) return `no direct connections: ${this.#why}`;
    const { size, unfit } = this.#plan;
    const left = unfit === 0 ? "" : ` (${unfit} more do not fit in, and go by the rules)`;
    const callers = cgroups.workloads === undefined ? "" : ` ${OF_ALL}`;
    return `direct connections${callers} to ${size} addresses${left}`;
  }

  metrics(): readonly MetricFamily[] {
    if (this.#options.mode === "off") return [];
    const { translated, missed } = this.#counts();
    return [
      {
        name: "direct_connect_addresses",
        help: "Addresses of services that TCP connections are led from to endpoints at once.",
        kind: "gauge",
        samples: [{ labels: {}, value: this.#plan.size }],
      },
      {
        name: "direct_connects_total",
        help: "Connections that were given the address of an endpoint.",
        kind: "counter",
        samples: [{ labels: {}, value: translated }],
      },
      {
        name: "direct_connect_misses_total",
        help: "Connections that came while their list was exchanged, and went by the rules.",
        kind: "counter",
        samples: [{ labels: {}, value: missed }],
      },
    ];
  }

  /** Leaves all to the rules; the next `advance` begins anew. @param why for those who ask meanwhile */
  withdraw(why: string = this.#why): void {
    if (this.#plane === undefined) return;
    this.#why = why;
    this.#earlier = this.#counts();
    this.#plane.close();
    this.#plane = undefined;
    this.#plan.forget();
  }

  close(): void {
    this.#isClosed = true;
    this.withdraw();
  }

  #settle(): void {
    const { families } = this.#options;
    for (const [key, subject] of this.#owed) {
      const claims = subject && directClaims(subject.item, subject.isRandom, families);
      this.#plan.replace(key, claims ?? []);
    }
    this.#owed.clear();
  }

  /** @returns why there is no plane, where there should be one */
  async #open(): Promise<string | undefined> {
    const { mode, cgroups, open } = this.#options;
    const isTried = this.#isImpossible || this.#plane !== undefined;
    if (mode === "off" || this.#isClosed || isTried) return undefined;
    const opened = await open(cgroups);
    this.#isImpossible = opened.kind === "obstacle";
    if (opened.kind === "obstacle") return `${opened.what}; ${opened.remedy}`;
    this.#plane = opened.plane;
    return undefined;
  }

  /** Where it fails, nothing stale is left to be met, and all is written at the next sync. */
  #attempt(act: (plane: DirectPlane) => void): void {
    if (this.#plane === undefined) return;
    try {
      act(this.#plane);
    } catch (error) {
      this.withdraw();
      this.#explain("warn", messageOf(error));
    }
  }

  #counts(): DirectCounts {
    let now = NO_COUNTS;
    try {
      now = this.#plane?.counts() ?? NO_COUNTS;
    } catch {
      // What can not be read is not counted.
    }
    const { translated, missed } = this.#earlier;
    return { translated: translated + now.translated, missed: missed + now.missed };
  }

  /** Once, until it is another reason. */
  #explain(level: "info" | "warn", why: string): void {
    if (why === this.#why) return;
    this.#why = why;
    const { workloads } = this.#options.cgroups;
    const whose = workloads === undefined ? "this node's own connections" : `connections ${OF_ALL}`;
    this.#tell(level, `${whose} go by the rules, packet by packet: ${why}`);
  }

  #tell(level: "info" | "warn", message: string): void {
    this.#options.log[level]({ backend: this.#options.backend }, `direct connections: ${message}`);
  }
}
