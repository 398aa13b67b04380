/** What a node engine may want to know of. */
export type EdgeEvent =
  | { readonly type: "registered"; readonly subnetwork: string; readonly subnetworkv6: string }
  | {
      readonly type: "deployed" | "undeployed" | "restored";
      readonly serviceName: string;
      readonly nsAddress: string;
      readonly nsAddressv6: string;
    }
  | {
      readonly type: "failed" | "refused";
      readonly serviceName: string;
      readonly reason: string;
    }
  | { readonly type: "accepted"; readonly serviceName: string }
  | { readonly type: "address-changed"; readonly nodeIp: string; readonly before: string };

/** Events with the number and the time of each. */
export interface NumberedEvent {
  readonly id: number;
  readonly at: string;
  readonly event: EdgeEvent;
}

/** Whoever comes back is told of so many that it missed. */
const MAX_KEPT = 256;

/** Tells events to all who listen, and keeps the last ones for those who come back. */
export class EdgeEvents {
  readonly #nowMs: () => number;
  readonly #kept: NumberedEvent[] = [];
  readonly #listeners = new Set<(event: NumberedEvent) => void>();
  #last = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  tell(event: EdgeEvent): void {
    this.#last += 1;
    const numbered = { id: this.#last, at: new Date(this.#nowMs()).toISOString(), event };
    this.#kept.push(numbered);
    if (this.#kept.length > MAX_KEPT) this.#kept.shift();
    for (const listener of this.#listeners) listener(numbered);
  }

  /** Those behind the one with that number, as far as they are kept. */
  since(id: number): readonly NumberedEvent[] {
    return this.#kept.filter((event) => event.id > id);
  }

  /** @returns a function that ends it */
  listen(listener: (event: NumberedEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
