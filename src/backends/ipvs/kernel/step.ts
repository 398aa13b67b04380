import type { CoreError } from "../../../core/errors.ts";
import type { RefusedChange } from "../../../platform/linux/netlink/exchange-batches.ts";
import type { ItemId } from "./items.ts";

/** One change of the kernel. */
export interface Step<T> {
  readonly item: ItemId;
  readonly change: T;
  /** To be called when the kernel made it. */
  done(): void;
}

/** What the kernel refused. */
export interface ItemFailure {
  readonly item: ItemId;
  readonly error: CoreError;
}

/** What became of some steps. */
export interface Work {
  /** How many changes the kernel made. */
  readonly changes: number;
  readonly failures: readonly ItemFailure[];
}

/** Takes steps in order, and adds up what became of them. What is refused holds up nothing else. */
export class Steps implements Work {
  readonly failures: ItemFailure[] = [];
  #changes = 0;

  get changes(): number {
    return this.#changes;
  }

  /** @param tell gives the changes to the kernel, all at once */
  async take<T>(
    steps: readonly Step<T>[],
    tell: (changes: readonly T[]) => Promise<readonly RefusedChange[]>,
  ): Promise<void> {
    if (steps.length === 0) return;
    const refused = await tell(steps.map(({ change }) => change));
    this.#changes += steps.length - refused.length;
    const failed = new Set(refused.map(({ index }) => index));
    steps.forEach(({ done }, index) => {
      if (!failed.has(index)) done();
    });
    for (const { index, error } of refused) {
      const step = steps[index];
      if (step !== undefined) this.failures.push({ item: step.item, error });
    }
  }
}
