/** Something to be done at a time. It is in at most one queue. */
export class Timer {
  readonly task: () => void;
  atMs = 0;
  /** For the queue: the order among those of one time, and the place in the heap. */
  sequence = 0;
  index = -1;

  constructor(task: () => void) {
    this.task = task;
  }

  get isArmed(): boolean {
    return this.index >= 0;
  }
}

/**
 * Timers in the order of their times, those of one time in the order they were armed. A binary heap in
 * which each timer knows its place, so that a cancelled one leaves nothing behind: idle time-outs are
 * long, and connections short.
 */
export class TimerQueue {
  readonly #heap: Timer[] = [];
  #sequence = 0;

  get size(): number {
    return this.#heap.length;
  }

  /** Undefined where there is none. */
  get nextAtMs(): number | undefined {
    return this.#heap[0]?.atMs;
  }

  /** Arms it, anew where it was armed already. */
  arm(timer: Timer, atMs: number): void {
    this.cancel(timer);
    timer.atMs = atMs;
    this.#sequence += 1;
    timer.sequence = this.#sequence;
    this.#heap.push(timer);
    this.#siftUp(timer, this.#heap.length - 1);
  }

  cancel(timer: Timer): void {
    const { index } = timer;
    if (index < 0) return;
    timer.index = -1;
    const last = this.#heap.pop();
    if (last === undefined || last === timer) return;
    this.#siftUp(last, index);
    this.#siftDown(last, last.index);
  }

  /** Takes the next one out that is due; undefined where none is. */
  takeDue(nowMs: number): Timer | undefined {
    const first = this.#heap[0];
    if (first === undefined || first.atMs > nowMs) return undefined;
    this.cancel(first);
    return first;
  }

  clear(): void {
    for (const timer of this.#heap) timer.index = -1;
    this.#heap.length = 0;
  }

  #siftUp(timer: Timer, from: number): void {
    let index = from;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = this.#heap[above];
      if (parent === undefined || !isBefore(timer, parent)) break;
      this.#put(parent, index);
      index = above;
    }
    this.#put(timer, index);
  }

  #siftDown(timer: Timer, from: number): void {
    let index = from;
    for (;;) {
      const child = this.#earlierChild(index);
      if (child === undefined || !isBefore(child, timer)) break;
      const below = child.index;
      this.#put(child, index);
      index = below;
    }
    this.#put(timer, index);
  }

  #earlierChild(index: number): Timer | undefined {
    const left = this.#heap[2 * index + 1];
    const right = this.#heap[2 * index + 2];
    if (left === undefined || right === undefined) return left;
    return isBefore(right, left) ? right : left;
  }

  #put(timer: Timer, index: number): void {
    this.#heap[index] = timer;
    timer.index = index;
  }
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.sequence < b.sequence);
}
