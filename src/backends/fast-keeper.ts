import { CoreError, messageOf } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import type { MetricFamily } from "../core/metrics/metric-family.ts";
import { Turns } from "../core/turns.ts";
import type { TcpFlowTable } from "../platform/linux/conntrack/tcp-flow-table.ts";
import { ConnectionKeeper } from "../platform/linux/fast-path/connection-keeper.ts";
import type { FastPlane } from "../platform/linux/fast-path/fast-plane.ts";
import type { ForwardedPackets } from "../platform/linux/forwarded-packets.ts";
import { AttachedLinks } from "../platform/linux/links/attached-links.ts";
import type { OwnRules } from "../platform/linux/onlookers.ts";
import type { Sysctl } from "../platform/linux/sysctl.ts";
import { FastOccasion } from "./fast-occasion.ts";
import type { FastLinks, FastWorld } from "./fast-world.ts";
import { findAnyOnlooker } from "./find-any-onlooker.ts";

export type FastMode = "auto" | "off" | "on";

export interface FastKeeperOptions {
  readonly mode: FastMode;
  readonly world: FastWorld;
  /** All others' may have to see every packet. */
  readonly own: OwnRules;
  readonly sysctl: Pick<Sysctl, "read">;
  readonly log: Log;
  readonly backend: string;
  /** Called when `summary` says something else. */
  readonly onStatus?: (() => void) | undefined;
}

/** A connection that is proposed waits so long, at most, before it takes the path. */
const ADMIT_MS = 100;
/** With `auto`, whether the path is to be open is asked each time that so many periods are over. */
const PERIODS_TO_LOOK = 10;
/** Links and resting connections are looked at each time that so many periods are over. */
const PERIODS_TO_REVIEW = 50;
const ESTABLISHED_SYSCTL = "net.netfilter.nf_conntrack_tcp_timeout_established";
/** The kernel's own default. */
const ESTABLISHED_S = 432_000;

/** What there is while the path is open. */
interface Path {
  readonly plane: FastPlane;
  readonly table: TcpFlowTable;
  readonly links: FastLinks;
  readonly forwarded: ForwardedPackets;
  readonly attached: AttachedLinks;
  readonly connections: ConnectionKeeper;
  readonly stop: () => void;
}

/**
 * Has packets of TCP connections that the rules translate pass without them, once they have decided: beside
 * rules that are complete without it, and that decide again every second for each connection. With `on` always,
 * with `auto` when there is an occasion.
 */
export class FastKeeper {
  readonly #options: FastKeeperOptions;
  readonly #turns = new Turns();
  #path: Path | undefined;
  #occasion: FastOccasion | undefined;
  /** Whether links are to have the programs. */
  #isOpen = false;
  /** Why there is none, where there should be. */
  #why = "";
  #lastFailure = "";
  #periods = 0;
  #haveLinksChanged = false;
  /** Whether what an earlier process left was looked for. */
  #isRecovered = false;
  /** Of paths that were closed. */
  #passedEarlier = 0;

  private constructor(options: FastKeeperOptions) {
    this.#options = options;
  }

  /** @throws CoreError ERR_NOT_POSSIBLE_HERE where it has to work, and can not */
  static async start(options: FastKeeperOptions): Promise<FastKeeper> {
    const keeper = new FastKeeper(options);
    if (options.mode === "off") return keeper;
    const why = keeper.#prepare();
    if (why === undefined) {
      await keeper.#take(() => keeper.#recover());
      await keeper.#begin();
      return keeper;
    }
    keeper.#why = why;
    if (options.mode === "on") {
      throw new CoreError("ERR_NOT_POSSIBLE_HERE", `--fast-path on: ${why}`);
    }
    keeper.#tellWhyNot(why);
    return keeper;
  }

  /** The same where something else was started before: that is closed where this throws. */
  static async startAfter(
    earlier: { close(): void },
    options: FastKeeperOptions,
  ): Promise<FastKeeper> {
    try {
      return await FastKeeper.start(options);
    } catch (error) {
      earlier.close();
      throw error;
    }
  }

  /** For people, as a part of a line. */
  summary(): string {
    if (this.#options.mode === "off") return "fast path off";
    if (this.#path === undefined) return `no fast path: ${this.#why}`;
    const obstacle = this.#occasion?.obstacle;
    if (obstacle !== undefined) return `no fast path: ${obstacle}`;
    if (!this.#isOpen) return `fast path ready: ${this.#occasion?.pause ?? "links follow"}`;
    const { size } = this.#path.attached;
    return `fast path on ${size} ${size === 1 ? "link" : "links"}`;
  }

  metrics(): readonly MetricFamily[] {
    if (this.#options.mode === "off") return [];
    return [
      {
        name: "fast_path_flows",
        help: "Directions of connections whose packets pass without the rules.",
        kind: "gauge",
        samples: [{ labels: {}, value: this.#path?.connections.size ?? 0 }],
      },
      {
        name: "fast_path_packets_total",
        help: "Packets that passed without the rules.",
        kind: "counter",
        samples: [{ labels: {}, value: this.#passedEarlier + (this.#path?.plane.passed() ?? 0) }],
      },
    ];
  }

  /** Settles when all that was begun is over. */
  async drain(): Promise<void> {
    await this.#turns.over();
  }

  /** All go by the rules from then on, and last as long as if they had always done so. */
  async close(): Promise<void> {
    const path = this.#path;
    if (path === undefined) return;
    this.#path = undefined;
    this.#why = "closed";
    const { plane, table, links, forwarded, attached, connections } = path;
    this.#passedEarlier += plane.passed();
    path.stop();
    attached.stop();
    await this.#turns.over();
    // Links take their time, and nobody takes the path once this is done.
    try {
      await connections.dismiss();
    } catch (error) {
      this.#tell(error);
    }
    await attached.close();
    links.close();
    forwarded.close();
    table.close();
    plane.close();
  }

  /** @returns why there can be none, where that is so */
  #prepare(): string | undefined {
    const { world, sysctl, log } = this.#options;
    const opened = world.open();
    if (opened.kind === "obstacle") return `${opened.what}; ${opened.remedy}`;
    const { plane } = opened;
    const closers = [() => plane.close()];
    try {
      const table = world.openTable();
      closers.push(() => table.close());
      const forwarded = world.openForwarded();
      closers.push(() => forwarded.close());
      const links = world.openLinks(() => this.#onLinks());
      const connections = new ConnectionKeeper({
        plane,
        table: tellingOfSuccess(table, () => {
          this.#lastFailure = "";
        }),
        establishedS: async () => Number((await sysctl.read(ESTABLISHED_SYSCTL)) ?? ESTABLISHED_S),
        nowNs: () => process.hrtime.bigint(),
        random: Math.random,
      });
      const attached = new AttachedLinks({
        wanted: async () => (this.#isOpen ? links.list() : []),
        attach: (link) => plane.attach(link),
        programsAt: (link) => plane.programsAt(link),
        log,
      });
      const stop = world.every(ADMIT_MS, () => this.#onPeriod());
      this.#path = { plane, table, links, forwarded, attached, connections, stop };
      return undefined;
    } catch (error) {
      for (const close of closers.reverse()) close();
      return messageOf(error);
    }
  }

  /** The rules do not wait for links, each of which takes some time. */
  async #begin(): Promise<void> {
    const { mode } = this.#options;
    const path = this.#path;
    if (mode === "on" || path === undefined) {
      this.#isOpen = true;
      void this.#take(() => this.#reviewLinks());
      return;
    }
    this.#occasion = await FastOccasion.begin({
      forwarded: () => path.forwarded.read(),
      findOnlooker: () => this.#findOnlooker(),
    });
    if (this.#occasion.obstacle !== undefined) this.#tellWhyNot(this.#occasion.obstacle);
  }

  #findOnlooker(): Promise<string | undefined> {
    const { world, own, sysctl } = this.#options;
    return findAnyOnlooker({ own, sysctl, findOnlooker: world.findOnlooker });
  }

  /** What comes while others have their turn is left to the next one. */
  async #onPeriod(): Promise<void> {
    if (this.#turns.isIdle) await this.#take(() => this.#tick());
  }

  /** However many they are: looked at once, with the next period. */
  #onLinks(): void {
    this.#haveLinksChanged = true;
  }

  async #tick(): Promise<void> {
    if (this.#haveLinksChanged) await this.#reviewLinks();
    if (this.#isOpen) await this.#path?.connections.admit();
    this.#periods = (this.#periods + 1) % PERIODS_TO_REVIEW;
    if (this.#periods % PERIODS_TO_LOOK === 0) await this.#look();
    if (this.#periods === 0) await this.#review();
  }

  /** Opens or closes the path where there is an occasion to. */
  async #look(): Promise<void> {
    const [path, occasion] = [this.#path, this.#occasion];
    if (path === undefined || occasion === undefined) return;
    const before = { summary: this.summary(), obstacle: occasion.obstacle };
    await occasion.look(path.plane.passed());
    this.#tellObstacle(before.obstacle, occasion.obstacle);
    try {
      if (occasion.isThere !== this.#isOpen) await this.#turn(path, occasion.isThere);
    } finally {
      if (this.summary() !== before.summary) this.#options.onStatus?.();
    }
  }

  async #turn({ plane, connections }: Path, isOpen: boolean): Promise<void> {
    this.#isOpen = isOpen;
    try {
      // What was proposed before is old: who was asked where to then may be another one now.
      if (isOpen) plane.takeSeen();
      // While the programs are still there: nobody takes the path once this is done.
      else await connections.dismiss();
    } finally {
      await this.#reviewLinks();
    }
  }

  #tellObstacle(before: string | undefined, now: string | undefined): void {
    if (now === before) return;
    const { log, backend } = this.#options;
    if (now !== undefined) this.#tellWhyNot(now);
    else log.info({ backend }, "fast path: nobody would miss packets any more");
  }

  async #review(): Promise<void> {
    await this.#reviewLinks();
    await this.#recover();
    await this.#path?.connections.review();
  }

  async #recover(): Promise<void> {
    if (this.#isRecovered || this.#path === undefined) return;
    const left = await this.#path.connections.recover();
    this.#isRecovered = true;
    const { log } = this.#options;
    if (left > 0) log.info({ connections: left }, "fast path: connections of before go on");
  }

  async #reviewLinks(): Promise<void> {
    const before = this.summary();
    this.#haveLinksChanged = false;
    await this.#path?.attached.review();
    if (this.summary() !== before) this.#options.onStatus?.();
  }

  /** What fails is tried again with the next period. */
  #take(act: () => Promise<void>): Promise<void> {
    return this.#turns.take(async () => {
      if (this.#path === undefined) return;
      try {
        await act();
      } catch (error) {
        this.#tell(error);
      }
    });
  }

  #tellWhyNot(why: string): void {
    const { log, backend } = this.#options;
    log.info({ backend }, `fast path: all packets go by the rules: ${why}`);
  }

  /** Once, until the kernel answers or it fails otherwise. */
  #tell(error: unknown): void {
    const failure = messageOf(error);
    if (failure === this.#lastFailure) return;
    this.#lastFailure = failure;
    const { log, backend } = this.#options;
    log.warn({ backend, err: error }, "fast path: connections can not be looked at");
  }
}

function tellingOfSuccess(table: TcpFlowTable, onSuccess: () => void): TcpFlowTable {
  const told = async <T>(answer: Promise<T>): Promise<T> => {
    const result = await answer;
    onSuccess();
    return result;
  };
  return {
    ask: (tuples) => told(table.ask(tuples)),
    change: (changes) => told(table.change(changes)),
    list: (family, take) => told(table.list(family, take)),
    close: () => table.close(),
  };
}
