import type { LiveInstance } from "../table/live-instance.ts";
import type { FlowPlace } from "./flow.ts";

interface Entry<T> extends FlowPlace<T> {
  readonly number: number;
  flows: number;
}

/** Where flows go, by numbers; many flows share one. What no flow goes to any more is forgotten. */
export class FlowPlaces<T> {
  readonly #entries: (Entry<T> | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #ofInstance = new Map<LiveInstance, Entry<T>[]>();

  get size(): number {
    return this.#entries.length - this.#free.length;
  }

  at(number: number): FlowPlace<T> {
    const entry = this.#entries[number];
    if (entry === undefined) throw new Error(`no flow goes to place ${number}`);
    return entry;
  }

  /** The number of one that another flow goes to. */
  take(instance: LiveInstance, target: T): number {
    const known = this.#ofInstance.get(instance) ?? [];
    const there = known.find((entry) => entry.target === target);
    if (there !== undefined) {
      there.flows += 1;
      return there.number;
    }
    const number = this.#free.pop() ?? this.#entries.length;
    const entry = { instance, target, number, flows: 1 };
    this.#entries[number] = entry;
    this.#ofInstance.set(instance, [...known, entry]);
    return number;
  }

  /** A flow went there that does not any more. */
  release(number: number): void {
    const entry = this.#entries[number];
    if (entry === undefined) return;
    entry.flows -= 1;
    if (entry.flows > 0) return;
    this.#entries[number] = undefined;
    this.#free.push(number);
    const left = this.#ofInstance.get(entry.instance)?.filter((each) => each !== entry) ?? [];
    if (left.length === 0) this.#ofInstance.delete(entry.instance);
    else this.#ofInstance.set(entry.instance, left);
  }
}
