import { FakeTcpFlowTable } from "../platform/linux/conntrack/fake-tcp-flow-table.fixture.ts";
import { FakeFastPlane } from "../platform/linux/fast-path/fake-fast-plane.fixture.ts";
import type { PlainLink } from "../platform/linux/links/ethernet-links.ts";
import type { FlowTuple } from "../wire/netlink/conntrack/flow.ts";
import { FastKeeper, type FastMode } from "./fast-keeper.ts";
import type { FastWorld } from "./fast-world.ts";

const OBSTACLE = { kind: "obstacle", what: "an old kernel", remedy: "boot a new one" } as const;

/** A table that a test can hold up. */
class HeldTable extends FakeTcpFlowTable {
  /** What an answer waits for. */
  hold: Promise<void> = Promise.resolve();
  /** How often it was asked. */
  asked = 0;

  override async ask(tuples: readonly FlowTuple[]): ReturnType<FakeTcpFlowTable["ask"]> {
    this.asked += 1;
    await this.hold;
    return super.ask(tuples);
  }
}

/** A keeper of the fast path on a machine in memory, whose time a test moves. */
export class FastWorldRig {
  readonly plane: FakeFastPlane = new FakeFastPlane();
  readonly table: HeldTable = new HeldTable();
  readonly #opened: string[] = [];
  isPossible = true;
  isWithoutNetlink = false;
  isWithoutLinks = false;
  links: readonly PlainLink[] = [];
  /** What a list of links waits for. */
  holdLinks: Promise<void> = Promise.resolve();
  /** How often they were listed. */
  listed = 0;
  /** What is said in the log: `warn: text`. */
  readonly lines: string[] = [];
  /** What the status says each time that it says something else. */
  readonly told: string[] = [];
  /** How many packets were forwarded by the rules. */
  forwarded = 0;
  /** Whose rules would miss packets. */
  onlooker: string | undefined;
  /** Why that can not be told. */
  onlookersFailure: string | undefined;
  /** How often that was asked. */
  askedForOnlookers = 0;
  isForwardedClosed = false;
  /** By name. */
  readonly sysctls: Map<string, string> = new Map();
  periodMs = 0;
  isStopped = false;
  areLinksClosed = false;
  /** The links may be others. */
  onLinks: () => void = () => undefined;
  #act: () => Promise<void> = async () => undefined;

  /** All that was opened, in order. */
  get opened(): readonly string[] {
    return this.#opened;
  }

  async start(mode: FastMode = "on"): Promise<FastKeeper> {
    const keeper = await this.begin(mode);
    await keeper.drain();
    return keeper;
  }

  /** The same, as who starts it sees it: links may be attached yet. */
  async begin(mode: FastMode = "on"): Promise<FastKeeper> {
    let started: FastKeeper | undefined;
    const keeper = await FastKeeper.start({
      mode,
      world: this.#world(),
      own: { isOwnTable: () => false, isOwnRule: () => false },
      sysctl: { read: async (name) => this.sysctls.get(name) },
      log: this.#log(),
      backend: "nftables",
      onStatus: () => void this.told.push(started?.summary() ?? "not started yet"),
    });
    started = keeper;
    return keeper;
  }

  /** So many periods, one after the other. */
  async pass(periods = 1): Promise<void> {
    for (let period = 0; period < periods; period += 1) await this.#act();
  }

  #world(): FastWorld {
    return {
      open: () => {
        this.#opened.push("plane");
        return this.isPossible ? { kind: "open", plane: this.plane } : OBSTACLE;
      },
      openTable: () => {
        if (this.isWithoutNetlink) throw new Error("no netlink");
        this.#opened.push("table");
        return this.table;
      },
      openLinks: (onChange) => {
        if (this.isWithoutLinks) throw new Error("no links");
        this.#opened.push("links");
        this.onLinks = onChange;
        return {
          list: async () => {
            const { links } = this;
            this.listed += 1;
            await this.holdLinks;
            return links;
          },
          close: () => {
            this.areLinksClosed = true;
          },
        };
      },
      openForwarded: () => ({
        read: () => this.forwarded,
        close: () => {
          this.isForwardedClosed = true;
        },
      }),
      findOnlooker: async () => {
        this.askedForOnlookers += 1;
        if (this.onlookersFailure !== undefined) throw new Error(this.onlookersFailure);
        return this.onlooker;
      },
      every: (periodMs, act) => {
        this.periodMs = periodMs;
        this.#act = act;
        return () => {
          this.isStopped = true;
        };
      },
    };
  }

  #log() {
    const at = (level: string) => (_: object, text: string) =>
      void this.lines.push(`${level}: ${text}`);
    return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  }
}
