/** What a link is between; `LoopThread` is one. */
export interface LinkableLoop<L> {
  readonly name: string;
  link(other: L): void;
  unlink(other: L): Promise<void>;
}

/** Which loops can hand connections to each other. */
export class LoopLinks<L extends LinkableLoop<L>> {
  readonly #peers = new Map<L, Set<L>>();

  /** Each of the first can hand over to each of the second; links that are there stay. */
  join(from: readonly L[], to: readonly L[]): void {
    for (const one of from) for (const other of to) this.#link(one, other);
  }

  /** The loop has ended. Settles when nobody hands over to it any more. */
  async cut(loop: L): Promise<void> {
    const peers = [...(this.#peers.get(loop) ?? [])];
    this.#peers.delete(loop);
    for (const peer of peers) this.#peers.get(peer)?.delete(loop);
    await Promise.all(peers.map((peer) => peer.unlink(loop)));
  }

  #link(one: L, other: L): void {
    if (one === other || this.#peersOf(one).has(other)) return;
    this.#peersOf(one).add(other);
    this.#peersOf(other).add(one);
    one.link(other);
  }

  #peersOf(loop: L): Set<L> {
    const known = this.#peers.get(loop);
    if (known !== undefined) return known;
    const peers = new Set<L>();
    this.#peers.set(loop, peers);
    return peers;
  }
}
