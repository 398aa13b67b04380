import { Liveness } from "../liveness.ts";
import { FIRST_RENEWAL, type Pulse } from "./ledger.ts";

export interface LocalPulseOptions {
  readonly timeoutMs: number;
  /** Never goes back. */
  readonly nowMs: () => number;
  /** Known from before: they have a while longer, to find their manager again. */
  readonly nodes: readonly string[];
}

/** Who is alive, where there is one manager: it is all in its memory. */
export class LocalPulse implements Pulse {
  readonly #liveness: Liveness;
  readonly #graceMs: number;
  readonly #nowMs: () => number;
  #onChange: (node: string) => void = () => undefined;
  #timer: NodeJS.Timeout | undefined;
  #timerMs = Number.POSITIVE_INFINITY;
  #isClosed = false;

  constructor({ timeoutMs, nowMs, nodes }: LocalPulseOptions) {
    this.#liveness = new Liveness(timeoutMs);
    this.#nowMs = nowMs;
    this.#graceMs = FIRST_RENEWAL * timeoutMs;
    for (const node of nodes) this.#liveness.begin(node, nowMs(), this.#graceMs);
    this.#schedule();
  }

  follow(onChange: (node: string) => void): void {
    this.#onChange = onChange;
  }

  isAlive(node: string): boolean {
    return this.#liveness.isAlive(node);
  }

  async welcome(node: string): Promise<void> {
    this.#heard(node, this.#liveness.begin(node, this.#nowMs(), this.#graceMs));
  }

  async renew(node: string): Promise<void> {
    this.#heard(node, this.#liveness.renew(node, this.#nowMs()));
  }

  async forget(node: string): Promise<void> {
    this.#liveness.forget(node);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #heard(node: string, isNews: boolean): void {
    if (isNews) this.#onChange(node);
    const { nextMs } = this.#liveness;
    // Who renews has less time than who is waited for.
    if (nextMs !== undefined && nextMs < this.#timerMs) this.#schedule();
  }

  /** The timer stands at when the first one may be dead; that it renewed meanwhile is seen then. */
  #schedule(): void {
    const { nextMs } = this.#liveness;
    clearTimeout(this.#timer);
    this.#timerMs = nextMs ?? Number.POSITIVE_INFINITY;
    if (nextMs === undefined || this.#isClosed) return;
    this.#timer = setTimeout(
      () => {
        for (const node of this.#liveness.expire(this.#nowMs())) this.#onChange(node);
        this.#schedule();
      },
      Math.max(0, Math.ceil(nextMs - this.#nowMs())),
    );
  }
}
