const SMALLEST_CAPACITY = 8;

/**
 * Weights in numbered slots, from which one is drawn in proportion in O(log n). Each inner node is
 * the sum of its two children, computed anew on every change, so fractions do not drift.
 *
 *          7            node 1
 *        /   \
 *       5     2         nodes 2 and 3
 *      / \   / \
 *     4   1 0   2       slots 0 to 3
 */
export class WeightTree {
  #capacity = SMALLEST_CAPACITY;
  #sums = new Float64Array(2 * SMALLEST_CAPACITY);

  get total(): number {
    return this.#sums[1] ?? 0;
  }

  get(slot: number): number {
    return slot < this.#capacity ? (this.#sums[this.#capacity + slot] ?? 0) : 0;
  }

  set(slot: number, weight: number): void {
    while (slot >= this.#capacity) this.#grow();
    const sums = this.#sums;
    let node = this.#capacity + slot;
    sums[node] = weight;
    for (node >>= 1; node >= 1; node >>= 1) {
      sums[node] = (sums[2 * node] ?? 0) + (sums[2 * node + 1] ?? 0);
    }
  }

  /** The slot that `fraction` of the total (0 to 1) falls into; only where the total is above 0. */
  find(fraction: number): number {
    const sums = this.#sums;
    let rest = fraction * this.total;
    let node = 1;
    while (node < this.#capacity) {
      const left = sums[2 * node] ?? 0;
      const right = sums[2 * node + 1] ?? 0;
      // Rounding may leave a rest that no slot holds: never walk into a branch without weight.
      const goesLeft = right === 0 || (rest < left && left > 0);
      if (!goesLeft) rest -= left;
      node = goesLeft ? 2 * node : 2 * node + 1;
    }
    return node - this.#capacity;
  }

  #grow(): void {
    const leaves = this.#sums.slice(this.#capacity);
    this.#capacity *= 2;
    this.#sums = new Float64Array(2 * this.#capacity);
    leaves.forEach((weight, slot) => {
      if (weight > 0) this.set(slot, weight);
    });
  }
}
