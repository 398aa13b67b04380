import { CoreError, messageOf } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import type { MetricFamily } from "../core/metrics/metric-family.ts";
import { Turns } from "../core/turns.ts";
import type { TcpFlowTable } from "../platform/linux/conntrack/tcp-flow-table.ts";
import { ConnectionKeeper } from "../platform/linux/fast-path/connection-keeper.ts";
import type { FastPlane } from "../platform/linux/fast-path/fast-plane.ts";
import { AttachedLinks } from "../platform/linux/links/attached-links.ts";
import type { Sysctl } from "../platform/linux/sysctl.ts";
import type { FastLinks, FastWorld } from "./fast-world.ts";

export type FastMode = "auto" | "off" | "on";

export interface FastKeeperOptions {
  readonly mode: FastMode;
  readonly world: FastWorld;
  readonly sysctl: Pick<Sysctl, "read">;
  readonly log: Log;
  readonly backend: string;
  /** Called when `summary` says something else. */
  readonly onStatus?: (() => void) | undefined;
}

/** A connection that is proposed waits so long, at most, before it takes the path. */
const ADMIT_MS = 100;
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
  readonly attached: AttachedLinks;
  readonly connections: ConnectionKeeper;
  readonly stop: () => void;
}

/**
 * Has packets of TCP connections that the rules translate pass without them, once they have decided: beside
 * rules that are complete without it, and that decide again every second for each connection.
 */
export class FastKeeper {
  readonly #options: FastKeeperOptions;
  readonly #turns = new Turns();
  #path: Path | undefined;
  /** Why there is none, where there should be. */
  #why = "";
  #lastFailure = "";
  #periods = 0;
  /** Of paths that were closed. */
  #passedEarlier = 0;

  private constructor(options: FastKeeperOptions) {
    this.#options = options;
  }

  /** @throws CoreError ERR_NOT_POSSIBLE_HERE where it has to work, and can not */
  static async start(options: FastKeeperOptions): Promise<FastKeeper> {
    const keeper = new FastKeeper(options);
    if (options.mode === "off") return keeper;
    const opened = options.world.open();
    if (opened.kind === "open") {
      await keeper.#begin(opened.plane);
      return keeper;
    }
    keeper.#why = `${opened.what}; ${opened.remedy}`;
    if (options.mode === "on") {
      throw new CoreError("ERR_NOT_POSSIBLE_HERE", `--fast-path on: ${keeper.#why}`);
    }
    const { log, backend } = options;
    log.info({ backend }, `fast path: all packets go by the rules: ${keeper.#why}`);
    return keeper;
  }

  /** For people, as a part of a line. */
  summary(): string {
    if (this.#options.mode === "off") return "fast path off";
    if (this.#path === undefined) return `no fast path: ${this.#why}`;
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

  /** All go by the rules from then on, and last as long as if they had always done so. */
  async close(): Promise<void> {
    const path = this.#path;
    this.#path = undefined;
    this.#why = "closed";
    if (path === undefined) return;
    path.stop();
    await path.attached.close();
    path.links.close();
    await this.#turns.over();
    this.#passedEarlier += path.plane.passed();
    try {
      await path.connections.dismiss();
    } catch (error) {
      this.#tell(error);
    }
    path.table.close();
    path.plane.close();
  }

  async #begin(plane: FastPlane): Promise<void> {
    const { world, sysctl, log } = this.#options;
    const table = world.openTable();
    const connections = new ConnectionKeeper({
      plane,
      table,
      establishedS: async () => Number((await sysctl.read(ESTABLISHED_SYSCTL)) ?? ESTABLISHED_S),
      nowNs: () => process.hrtime.bigint(),
    });
    const links = world.openLinks(() => this.#take(() => this.#reviewLinks()));
    const attached = new AttachedLinks({
      wanted: () => links.list(),
      attach: (link) => plane.attach(link),
      isShared: (link) => plane.isShared(link),
      log,
    });
    const stop = world.every(ADMIT_MS, () => this.#take(() => this.#tick()));
    this.#path = { plane, table, links, attached, connections, stop };
    await this.#take(async () => {
      const left = await connections.recover();
      if (left > 0) log.info({ connections: left }, "fast path: connections of before go on");
      await this.#reviewLinks();
    });
  }

  async #tick(): Promise<void> {
    await this.#path?.connections.admit();
    this.#periods = (this.#periods + 1) % PERIODS_TO_REVIEW;
    if (this.#periods !== 0) return;
    await this.#path?.connections.review();
    await this.#reviewLinks();
  }

  async #reviewLinks(): Promise<void> {
    const before = this.summary();
    await this.#path?.attached.review();
    if (this.summary() !== before) this.#options.onStatus?.();
  }

  /** What fails is tried again with the next period. */
  #take(act: () => Promise<void>): Promise<void> {
    return this.#turns.take(async () => {
      if (this.#path === undefined) return;
      try {
        await act();
        this.#lastFailure = "";
      } catch (error) {
        this.#tell(error);
      }
    });
  }

  /** Once, until it works or fails otherwise. */
  #tell(error: unknown): void {
    const failure = messageOf(error);
    if (failure === this.#lastFailure) return;
    this.#lastFailure = failure;
    const { log, backend } = this.#options;
    log.warn({ backend, err: error }, "fast path: connections can not be looked at");
  }
}
