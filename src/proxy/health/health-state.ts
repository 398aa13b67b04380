import type { HealthCheck } from "../../core/model/group.ts";

/** `starting`: no check has settled it yet; it takes no connections. */
export type Health = "starting" | "up" | "down";

export type HealthEdge = "up" | "down";

/** How soon a server that is starting is checked again: nobody should wait whole intervals for it. */
const STARTING_INTERVAL_MS = 100;

/**
 * The health of one server, edge-triggered: `up` successes in a row bring it up, `down` failures in a
 * row take it down, and each change is told once. Failed connections of clients count as failures
 * until one succeeds; that alone never brings a server up, a check does.
 */
export class HealthState {
  #check: HealthCheck;
  #health: Health = "starting";
  #successes = 0;
  #failedChecks = 0;
  #failedConnections = 0;
  #reason = "not checked yet";

  constructor(check: HealthCheck) {
    this.#check = check;
    if (check.protocol === "none") this.#health = "up";
  }

  get health(): Health {
    return this.#health;
  }

  /** Why it is not up; empty while it is. */
  get reason(): string {
    return this.#health === "up" ? "" : this.#reason;
  }

  /** How long after a check has ended the next one begins. */
  get nextCheckInMs(): number {
    const { intervalMs } = this.#check;
    return this.#health === "starting" ? Math.min(STARTING_INTERVAL_MS, intervalMs) : intervalMs;
  }

  /** Other thresholds from now on; what was counted stays. Returns the edge where `none` makes one. */
  setCheck(check: HealthCheck): HealthEdge | undefined {
    this.#check = check;
    return check.protocol === "none" ? this.#become("up") : undefined;
  }

  checkSucceeded(): HealthEdge | undefined {
    this.#failedChecks = 0;
    this.#failedConnections = 0;
    if (this.#health === "up") return undefined;
    this.#successes += 1;
    return this.#successes >= this.#check.up ? this.#become("up") : undefined;
  }

  checkFailed(reason: string): HealthEdge | undefined {
    this.#failedChecks += 1;
    return this.#failed(reason);
  }

  connectionSucceeded(): void {
    this.#failedConnections = 0;
  }

  /** A server that is never checked stays up: nothing could bring it back. */
  connectionFailed(reason: string): HealthEdge | undefined {
    if (this.#check.protocol === "none") return undefined;
    this.#failedConnections += 1;
    return this.#failed(reason);
  }

  #failed(reason: string): HealthEdge | undefined {
    this.#successes = 0;
    this.#reason = reason;
    if (this.#health === "down") return undefined;
    const failures = this.#failedChecks + this.#failedConnections;
    return failures >= this.#check.down ? this.#become("down") : undefined;
  }

  #become(health: HealthEdge): HealthEdge | undefined {
    this.#successes = 0;
    this.#failedChecks = 0;
    this.#failedConnections = 0;
    if (this.#health === health) return undefined;
    this.#health = health;
    return health;
  }
}
