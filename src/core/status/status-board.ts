/**
 * `starting`: it was not well yet. `degraded`: it works, but for a part of what it should do.
 * `failed`: it tries again, or waits for someone to act.
 */
export type Health = "starting" | "ok" | "degraded" | "failed";

export type ComponentKind = "source" | "sync" | "backend" | "server";

export interface ComponentStatus {
  readonly kind: ComponentKind;
  readonly name: string;
  readonly health: Health;
  /** For people: how much was read, why it failed. */
  readonly message: string;
  /** When the health became what it is. */
  readonly sinceMs: number;
  /** When it was last told to be well; undefined where it never was. */
  readonly okMs: number | undefined;
  /** When the work that is under way began; undefined while there is none. */
  readonly busySinceMs: number | undefined;
  /** What was asked for and could not be had: deviations of a data plane, claims that lost. */
  readonly notHonoured: readonly string[];
}

/** How one component tells the board about itself. */
export interface Reporter {
  ok(message: string): void;
  degraded(message: string): void;
  failed(message: string): void;
  /** Work began that `ok` or `failed` will end. */
  busy(): void;
  /** All that can not be honoured now; replaces what was said before. */
  notHonoured(what: readonly string[]): void;
}

export interface HealthReport {
  /** Nothing hangs: a restart would not help. */
  readonly live: boolean;
  /** Everything is well: what was asked for is true on this node. */
  readonly ready: boolean;
  /**
   * Nothing is late and nothing failed. What is still starting or degraded does not count, nor a source that
   * was well before: with what it said the node goes on to serve.
   */
  readonly healthy: boolean;
  /** Whether traffic from outside should be sent to this node: not where it is about to go. */
  readonly nodeEligible: boolean;
  /** Why not, a line a component. */
  readonly reasons: readonly string[];
}

export interface StatusBoardOptions {
  readonly now: () => number;
  /** Work that takes longer than this is late, which is not healthy: others may take the traffic. */
  readonly lateAfterMs?: number;
  /** Work that takes longer than this hangs: a restart may help. */
  readonly stuckAfterMs?: number;
  readonly onChange?: (component: ComponentStatus) => void;
}

/** As with kube-proxy: two of its sync periods. */
const DEFAULT_LATE_AFTER_MS = 60_000;
const DEFAULT_STUCK_AFTER_MS = 120_000;

/** One board of health: each component writes its own line, everyone reads. */
export class StatusBoard {
  readonly #components = new Map<string, ComponentStatus>();
  readonly #now: () => number;
  readonly #lateAfterMs: number;
  readonly #stuckAfterMs: number;
  readonly #onChange: (component: ComponentStatus) => void;
  #whyNotEligible: string | undefined;

  constructor(options: StatusBoardOptions) {
    this.#now = options.now;
    this.#lateAfterMs = options.lateAfterMs ?? DEFAULT_LATE_AFTER_MS;
    this.#stuckAfterMs = options.stuckAfterMs ?? DEFAULT_STUCK_AFTER_MS;
    this.#onChange = options.onChange ?? (() => undefined);
  }

  /** Puts a component on the board, as starting. */
  add(kind: ComponentKind, name: string): Reporter {
    const id = `${kind} ${name}`;
    let current: ComponentStatus = {
      kind,
      name,
      health: "starting",
      message: "",
      sinceMs: this.#now(),
      okMs: undefined,
      busySinceMs: undefined,
      notHonoured: [],
    };
    this.#components.set(id, current);
    const update = (change: Partial<ComponentStatus>): void => {
      current = { ...current, ...change };
      this.#components.set(id, current);
    };
    const settle = (health: Health, message: string): void => {
      const isNews = health !== current.health || message !== current.message;
      const now = this.#now();
      const sinceMs = health === current.health ? current.sinceMs : now;
      const okMs = health === "ok" ? now : current.okMs;
      update({ health, message, sinceMs, okMs, busySinceMs: undefined });
      if (isNews) this.#onChange(current);
    };
    return {
      ok: (message) => settle("ok", message),
      degraded: (message) => settle("degraded", message),
      failed: (message) => settle("failed", message),
      busy: () => update({ busySinceMs: current.busySinceMs ?? this.#now() }),
      notHonoured: (what) => update({ notHonoured: [...what] }),
    };
  }

  /** Says why traffic from outside should stay away from this node; undefined: it should not. */
  setNodeEligible(whyNot: string | undefined): void {
    this.#whyNotEligible = whyNot;
  }

  components(): readonly ComponentStatus[] {
    return [...this.#components.values()];
  }

  health(): HealthReport {
    const reasons: string[] = [];
    let live = true;
    let ready = true;
    let healthy = true;
    for (const component of this.#components.values()) {
      const { kind, name, health, message, busySinceMs } = component;
      const busyMs = busySinceMs === undefined ? 0 : this.#now() - busySinceMs;
      if (busyMs > this.#stuckAfterMs) live = false;
      if (busyMs > this.#lateAfterMs) {
        ready = false;
        healthy = false;
        reasons.push(`${kind} ${name}: busy for ${Math.round(busyMs / 1000)} s`);
      }
      if (health === "ok") continue;
      ready = false;
      if (isUnhealthy(component)) healthy = false;
      reasons.push(`${kind} ${name}: ${health}${message === "" ? "" : `: ${message}`}`);
    }
    const nodeEligible = this.#whyNotEligible === undefined;
    if (this.#whyNotEligible !== undefined) reasons.push(this.#whyNotEligible);
    return { live, ready, healthy, nodeEligible, reasons };
  }
}

/** What a source said before it failed is served all the same. */
function isUnhealthy({ kind, health, okMs }: ComponentStatus): boolean {
  return health === "failed" && (kind !== "source" || okMs === undefined);
}
