const ROOT = 0;
const NONE = 0;

/** Values by network prefix, found from the longest prefix to the shortest. */
export class PrefixTree<T> {
  /** Two children a node, by the next bit; 0 where there is none. */
  readonly #children: number[] = [NONE, NONE];
  readonly #values: (T[] | undefined)[] = [undefined];

  add(address: Uint8Array, prefixBits: number, value: T): void {
    let node = ROOT;
    for (let bit = 0; bit < prefixBits; bit++) {
      const slot = 2 * node + bitAt(address, bit);
      node = this.#children[slot] || this.#grow(slot);
    }
    const values = this.#values[node];
    if (values === undefined) this.#values[node] = [value];
    else values.push(value);
  }

  /** The value that suits under the longest prefix of the address; of several, the first added. */
  find(address: Uint8Array, bits: number, suits: (value: T) => boolean): T | undefined {
    let best = this.#values[ROOT]?.find(suits);
    let node = ROOT;
    for (let bit = 0; bit < bits; bit++) {
      node = this.#children[2 * node + bitAt(address, bit)] ?? NONE;
      if (node === NONE) break;
      best = this.#values[node]?.find(suits) ?? best;
    }
    return best;
  }

  #grow(slot: number): number {
    const node = this.#values.length;
    this.#values.push(undefined);
    this.#children.push(NONE, NONE);
    this.#children[slot] = node;
    return node;
  }
}

function bitAt(address: Uint8Array, bit: number): number {
  return ((address[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1;
}
