import { Liveness } from "../liveness.ts";
import type { Pulse } from "./ledger.ts";

export interface LocalPulseOptions {
  readonly timeoutMs: number;
  /** Never goes back. */
  readonly nowMs: () => number;
  /** Known from before: they have a while longer, to find their manager again. */
  readonly nodes: readonly string[];
}

/** How much longer nodes have after a start of the manager. */
const START_GRACE = 3;

/** Who is alive, where there is one manager: it is all in its memory. */
export class LocalPulse implements Pulse {
  readonly #liveness: Liveness;
  readonly #nowMs: () => number;
  #onChange: (node: string) => void = () => undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor({ timeoutMs, nowMs, nodes }: LocalPulseOptions) {
    this.#liveness = new Liveness(timeoutMs);
    this.#nowMs = nowMs;
    const fromMs = nowMs() + (START_GRACE - 1) * timeoutMs;
    for (const node of nodes) this.#liveness.renew(node, fromMs);
    this.#schedule();
  }

  follow(onChange: (node: string) => void): void {
    this.#onChange = onChange;
  }

  isAlive(node: string): boolean {
    return this.#liveness.isAlive(node);
  }

  async renew(node: string): Promise<void> {
    const isNews = this.#liveness.renew(node, this.#nowMs());
    if (isNews) this.#onChange(node);
    if (this.#timer === undefined) this.#schedule();
  }

  async forget(node: string): Promise<void> {
    this.#liveness.forget(node);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** The timer stands at when the first one may be dead; that it renewed meanwhile is seen then. */
  #schedule(): void {
    const { nextMs } = this.#liveness;
    if (nextMs === undefined || this.#isClosed) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        for (const node of this.#liveness.expire(this.#nowMs())) this.#onChange(node);
        this.#schedule();
      },
      Math.max(0, Math.ceil(nextMs - this.#nowMs())),
    );
  }
}
