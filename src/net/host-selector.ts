import type { Selector } from "./fd.ts";

/** What a host-driven FD reports through; it forgets itself when the FD leaves the loop. */
export class HostRegistration {
  readonly #selector: HostSelector;
  #slot = -1;
  #generation = 0;

  constructor(selector: HostSelector) {
    this.#selector = selector;
  }

  attach(slot: number, generation: number): number {
    this.#slot = slot;
    this.#generation = generation;
    return 0;
  }

  detach(): void {
    if (this.#slot >= 0) this.#selector.forget(this.#slot);
    this.#slot = -1;
  }

  /** Reports readiness; nothing where the FD is in no loop: `attach` reports what holds then. */
  report(ready: number): void {
    if (this.#slot >= 0 && ready !== 0) this.#selector.report(this.#slot, this.#generation, ready);
  }
}

interface Pending {
  readonly slot: number;
  readonly generation: number;
  ready: number;
}

/** The selector of providers whose events come by callbacks: it collects them for the next round. */
export class HostSelector implements Selector {
  readonly blocks = false;
  #pending = new Map<number, Pending>();
  #round: readonly Pending[] = [];
  #onPending: () => void = () => undefined;

  report(slot: number, generation: number, ready: number): void {
    const known = this.#pending.get(slot);
    if (known !== undefined && known.generation === generation) known.ready |= ready;
    else this.#pending.set(slot, { slot, generation, ready });
    this.#onPending();
  }

  get hasPending(): boolean {
    return this.#pending.size > 0;
  }

  forget(slot: number): void {
    this.#pending.delete(slot);
  }

  wait(): number {
    this.#round = [...this.#pending.values()];
    this.#pending = new Map();
    return this.#round.length;
  }

  slotAt(index: number): number {
    return this.#round[index]?.slot ?? -1;
  }

  generationAt(index: number): number {
    return this.#round[index]?.generation ?? 0;
  }

  readyAt(index: number): number {
    return this.#round[index]?.ready ?? 0;
  }

  onPending(callback: () => void): void {
    this.#onPending = callback;
    if (this.#pending.size > 0) callback();
  }

  close(): void {
    this.#pending.clear();
    this.#onPending = () => undefined;
  }
}
