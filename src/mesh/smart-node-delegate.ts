import type { AnnouncedInstance } from "../brain/announcements/announced-instance.ts";
import { formatHostPort, type HostPort, parseHostPort } from "../core/model/address.ts";
import type { HealthCheck } from "../core/model/group.ts";
import { HealthState } from "../proxy/health/health-state.ts";
import type { AnnouncementState, Announcer } from "./announcer.ts";

/** What is checked and announced. */
export interface NodeDelegateSettings {
  readonly service: string;
  readonly servicePort: string;
  readonly zone: string;
  /** Empty: that of `nic`. */
  readonly address: string;
  readonly nic: string;
  readonly family: "v4" | "v6";
  readonly port: number;
  readonly weight: number;
  /** HOST:PORT; empty: what is announced. */
  readonly checkAddress: string;
  readonly timeoutMs: number;
  readonly periodMs: number;
  readonly up: number;
  readonly down: number;
}

export interface NodeDelegateWorld {
  /** This node. */
  readonly node: string;
  readonly announcer: Announcer;
  /** The address of a network interface; undefined where it has none. */
  readonly addressOf: (nic: string, family: "v4" | "v6") => string | undefined;
  /** @returns why it failed; empty where it did not */
  readonly check: (target: HostPort, timeoutMs: number, signal: AbortSignal) => Promise<string>;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Told when something has changed. */
  readonly onChange: () => void;
}

const NOT_MADE: AnnouncementState = { isMade: false, problem: "" };

/** What is said of the instance now. */
interface Announcement {
  readonly address: string;
  readonly end: AbortController;
  readonly over: Promise<void>;
}

/** Checks a port of this machine, and announces it as an instance of a service while it answers. */
export class SmartNodeDelegate {
  readonly #settings: NodeDelegateSettings;
  readonly #world: NodeDelegateWorld;
  readonly #health: HealthState;
  readonly #ended = new AbortController();
  readonly #running: Promise<void>;
  #announcement: Announcement | undefined;
  #state: AnnouncementState = NOT_MADE;

  constructor(settings: NodeDelegateSettings, world: NodeDelegateWorld) {
    this.#settings = settings;
    this.#world = world;
    this.#health = new HealthState(checkOf(settings));
    this.#running = this.#run();
  }

  /** `announcing`: it answers, but nobody could be told yet. */
  get status(): "checking" | "announcing" | "announced" | "down" {
    const { health } = this.#health;
    if (health === "up") return this.#state.isMade ? "announced" : "announcing";
    return health === "starting" ? "checking" : "down";
  }

  /** What is announced; empty while nothing is. */
  get announced(): readonly string[] {
    const address = this.#announcement?.address;
    const isMade = this.#state.isMade && address !== undefined;
    return isMade ? [formatHostPort(address, this.#settings.port)] : [];
  }

  get problem(): string {
    return this.#health.health === "up" ? this.#state.problem : this.#health.reason;
  }

  /** Withdraws, and checks no more. */
  async close(): Promise<void> {
    this.#ended.abort();
    await this.#running;
    await this.#withdraw();
  }

  async #run(): Promise<void> {
    const { sleep, onChange } = this.#world;
    const { signal } = this.#ended;
    while (!signal.aborted) {
      const before = this.status + this.problem;
      await this.#look(signal);
      if (!signal.aborted && before !== this.status + this.problem) onChange();
      await sleep(this.#health.nextCheckInMs, signal).catch(() => undefined);
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { address, nic, family, port, checkAddress, timeoutMs } = this.#settings;
    const { addressOf, check } = this.#world;
    const own = nic === "" ? address : addressOf(nic, family);
    const target = parseHostPort(checkAddress) ?? { host: own ?? "", port };
    const reason =
      own === undefined
        ? `network interface ${nic} has no address of IP${family}`
        : await check(target, timeoutMs, signal);
    if (signal.aborted) return;
    if (reason === "") this.#health.checkSucceeded();
    else this.#health.checkFailed(reason);
    const isUp = this.#health.health === "up" && own !== undefined;
    if (this.#announcement !== undefined && (!isUp || this.#announcement.address !== own)) {
      await this.#withdraw();
    }
    if (isUp && this.#announcement === undefined) this.#announce(own);
  }

  #announce(address: string): void {
    const { service, servicePort, zone, port, weight } = this.#settings;
    const { node, announcer, onChange } = this.#world;
    const instance: AnnouncedInstance = {
      service,
      servicePort,
      zone,
      node,
      address,
      port,
      weight,
    };
    const end = new AbortController();
    const tell = (state: AnnouncementState): void => {
      const isNew = state.isMade !== this.#state.isMade || state.problem !== this.#state.problem;
      this.#state = state;
      if (isNew && !end.signal.aborted) onChange();
    };
    const over = announcer.announce(instance, tell, end.signal);
    this.#announcement = { address, end, over };
  }

  async #withdraw(): Promise<void> {
    const announcement = this.#announcement;
    this.#announcement = undefined;
    announcement?.end.abort();
    await announcement?.over;
    this.#state = NOT_MADE;
  }
}

function checkOf({ timeoutMs, periodMs, up, down }: NodeDelegateSettings): HealthCheck {
  const http = { method: "GET", path: "/", host: "", status: [] };
  return { protocol: "tcp", timeoutMs, intervalMs: periodMs, up, down, http, dnsName: "" };
}
