import { type HeapItem, IndexedHeap } from "./indexed-heap.ts";

interface Turn<T> extends HeapItem {
  readonly of: T;
  /** Decides between turns that end at the same time. */
  readonly tieBreak: number;
  weight: number;
  /** From when on it may have its next turn, and until when it should have had it. */
  startsAt: number;
  endsAt: number;
  isOpen: boolean;
}

/**
 * Smooth weighted round-robin in O(log n) a turn (worst-case fair queueing, WF2Q). Time is virtual and
 * passes by 1 while everyone has as many turns as its weight; with weight w one has a turn in each
 * span of 1/w. Of the turns that have begun, the one that ends first is next:
 *
 *     weights 5, 1, 1:  a b a a c a a, not five in a row
 *
 * Weights may be fractions, and change at any time without anyone losing its place.
 */
export class WeightedTurns<T> {
  readonly #random: () => number;
  readonly #turns = new Map<T, Turn<T>>();
  readonly #open = new IndexedHeap<Turn<T>>((a, b) =>
    a.endsAt === b.endsAt ? a.tieBreak < b.tieBreak : a.endsAt < b.endsAt,
  );
  readonly #waiting = new IndexedHeap<Turn<T>>((a, b) => a.startsAt < b.startsAt);
  #time = 0;
  #totalWeight = 0;

  /** @param random from 0 to 1: where each begins, so that many instances do not all begin alike. */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Adds it or changes its weight; 0 takes it out. */
  set(of: T, weight: number): void {
    const turn = this.#turns.get(of);
    if (turn === undefined) this.#add(of, weight);
    else if (weight > 0) this.#change(turn, weight);
    else this.#delete(turn);
  }

  /** Whose turn it is among those that are accepted; the turns of others are kept for them. */
  next(accepts: (of: T) => boolean): T | undefined {
    const isAccepted = (turn: Turn<T>): boolean => accepts(turn.of);
    this.#openTurns();
    const turn = this.#open.firstAccepted(isAccepted) ?? this.#waiting.firstAccepted(isAccepted);
    if (turn === undefined) return undefined;
    // Who was passed over, or taken because others were, has one turn to make up for, not all of them.
    const span = 1 / turn.weight;
    const startedAt = Math.min(this.#time, Math.max(turn.startsAt, this.#time - span));
    this.#heapOf(turn).delete(turn);
    this.#place(turn, startedAt + span);
    this.#time += 1 / this.#totalWeight;
    return turn.of;
  }

  #openTurns(): void {
    if (this.#open.first === undefined) {
      this.#time = Math.max(this.#time, this.#waiting.first?.startsAt ?? 0);
    }
    for (;;) {
      const turn = this.#waiting.first;
      if (turn === undefined || turn.startsAt > this.#time) return;
      this.#waiting.delete(turn);
      this.#place(turn, turn.startsAt);
    }
  }

  #place(turn: Turn<T>, startsAt: number): void {
    turn.startsAt = startsAt;
    turn.endsAt = startsAt + 1 / turn.weight;
    turn.isOpen = startsAt <= this.#time;
    this.#heapOf(turn).push(turn);
  }

  #heapOf(turn: Turn<T>): IndexedHeap<Turn<T>> {
    return turn.isOpen ? this.#open : this.#waiting;
  }

  #add(of: T, weight: number): void {
    if (weight <= 0) return;
    const tieBreak = this.#random();
    const turn = { of, weight, tieBreak, startsAt: 0, endsAt: 0, isOpen: false, heapIndex: -1 };
    this.#turns.set(of, turn);
    this.#totalWeight += weight;
    this.#place(turn, this.#time + this.#random() / weight);
  }

  #change(turn: Turn<T>, weight: number): void {
    if (turn.weight === weight) return;
    this.#heapOf(turn).delete(turn);
    const untilStart = ((turn.startsAt - this.#time) * turn.weight) / weight;
    this.#totalWeight += weight - turn.weight;
    turn.weight = weight;
    this.#place(turn, this.#time + untilStart);
  }

  #delete(turn: Turn<T>): void {
    this.#heapOf(turn).delete(turn);
    this.#turns.delete(turn.of);
    // Anew from nothing: fractions that were added and taken away would leave a rest.
    this.#totalWeight = this.#turns.size === 0 ? 0 : this.#totalWeight - turn.weight;
  }
}
