import type { ContractDriver } from "./contract-judge.ts";

interface Lane {
  readonly driver: ContractDriver;
  /** What its data plane was last brought to. */
  state: string;
}

interface Waiting {
  readonly state: string;
  readonly begin: (lane: Lane) => void;
}

/**
 * Drivers, each for one case at a time. To bring a data plane to a state is what takes long, so the
 * cases of a state go to one driver, one after the other.
 */
export class DriverPool {
  readonly #free: Lane[] = [];
  readonly #busy = new Set<Lane>();
  readonly #waiting: Waiting[] = [];

  add(driver: ContractDriver): void {
    this.#free.push({ driver, state: "" });
  }

  async use<T>(state: string, work: (driver: ContractDriver) => Promise<T>): Promise<T> {
    if (this.#free.length + this.#busy.size === 0) throw new Error("no driver was opened");
    const lane = await this.#laneFor(state);
    try {
      return await work(lane.driver);
    } finally {
      this.#busy.delete(lane);
      this.#free.push(lane);
      this.#serve();
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#free, ...this.#busy].map(({ driver }) => driver.close()));
  }

  #laneFor(state: string): Promise<Lane> {
    return new Promise((begin) => {
      this.#waiting.push({ state, begin });
      this.#serve();
    });
  }

  /** Gives free drivers to those who wait, the earliest first unless a driver has their state. */
  #serve(): void {
    for (const lane of [...this.#free]) {
      const next =
        this.#waiting.find(({ state }) => state === lane.state) ??
        this.#waiting.find(({ state }) => !this.#isAnywhere(state));
      if (next === undefined) continue;
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      this.#free.splice(this.#free.indexOf(lane), 1);
      this.#busy.add(lane);
      lane.state = next.state;
      next.begin(lane);
    }
  }

  #isAnywhere(wanted: string): boolean {
    return [...this.#free, ...this.#busy].some(({ state }) => state === wanted);
  }
}
