/** Something that can stand in a heap, and knows where. */
export interface HeapItem {
  /** -1 while it stands in none. Written by the heap only. */
  heapIndex: number;
}

/** A binary heap whose items can be moved and taken out from the middle, in O(log n) each. */
export class IndexedHeap<T extends HeapItem> {
  readonly #items: T[] = [];
  readonly #isBefore: (a: T, b: T) => boolean;

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get first(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    this.#items.push(item);
    this.#rise(item, this.#items.length - 1);
  }

  /** To be called after what orders the item has changed. */
  update(item: T): void {
    this.#rise(item, item.heapIndex);
    this.#sink(item, item.heapIndex);
  }

  delete(item: T): void {
    const index = item.heapIndex;
    const last = this.#items.pop();
    item.heapIndex = -1;
    if (last === undefined || last === item) return;
    this.#place(last, index);
    this.update(last);
  }

  /** The first item that is accepted; those before it stay where they were. */
  firstAccepted(accepts: (item: T) => boolean): T | undefined {
    const { first } = this;
    if (first === undefined || accepts(first)) return first;
    const refused: T[] = [];
    let found: T | undefined = first;
    while (found !== undefined && !accepts(found)) {
      refused.push(found);
      this.delete(found);
      found = this.first;
    }
    for (const item of refused) this.push(item);
    return found;
  }

  #rise(item: T, from: number): void {
    let index = from;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = this.#items[above];
      if (parent === undefined || !this.#isBefore(item, parent)) break;
      this.#place(parent, index);
      index = above;
    }
    this.#place(item, index);
  }

  #sink(item: T, from: number): void {
    let index = from;
    for (;;) {
      const child = this.#earlierChild(index);
      if (child === undefined || !this.#isBefore(child, item)) break;
      const below = child.heapIndex;
      this.#place(child, index);
      index = below;
    }
    this.#place(item, index);
  }

  #earlierChild(index: number): T | undefined {
    const left = this.#items[2 * index + 1];
    const right = this.#items[2 * index + 2];
    if (left === undefined || right === undefined) return left;
    return this.#isBefore(right, left) ? right : left;
  }

  #place(item: T, index: number): void {
    this.#items[index] = item;
    item.heapIndex = index;
  }
}
