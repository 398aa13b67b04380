import type { GroupLoop } from "../groups/event-loop-wrapper.ts";
import { planShares } from "./plan-shares.ts";

/** Connections, or datagrams. */
export type Transport = "stream" | "datagram";

/** A loop that listening sockets can be lent to. */
export interface BorrowingLoop extends GroupLoop {
  lend(listener: string, transport: Transport, descriptor: number): void;
  /** Settles when the loop does not touch it any more; at once where the loop is gone. */
  takeBack(descriptor: number): Promise<void>;
}

/** How the sockets of a listener are lent to loops. One call at a time. */
export interface SocketLending<L extends BorrowingLoop> {
  descriptors(): readonly number[];
  /** Lends them to these loops, and takes them back from all others. */
  spread(loops: ReadonlyMap<string, L>): Promise<void>;
}

interface Share<L> {
  readonly descriptor: number;
  holder: L | undefined;
}

/**
 * A socket for each loop; the kernel spreads connections over them. There are never fewer than there
 * were, because closing one resets the connections that wait in it: when loops go, others have two.
 */
export class SpreadSockets<L extends BorrowingLoop> implements SocketLending<L> {
  readonly #listener: string;
  readonly #transport: Transport;
  readonly #openFurther: () => number;
  readonly #shares: Share<L>[];

  constructor(options: {
    readonly listener: string;
    readonly transport: Transport;
    readonly descriptors: readonly number[];
    readonly openFurther: () => number;
  }) {
    this.#listener = options.listener;
    this.#transport = options.transport;
    this.#openFurther = options.openFurther;
    this.#shares = options.descriptors.map((descriptor) => ({ descriptor, holder: undefined }));
  }

  descriptors(): readonly number[] {
    return this.#shares.map(({ descriptor }) => descriptor);
  }

  async spread(loops: ReadonlyMap<string, L>): Promise<void> {
    while (this.#shares.length < loops.size) {
      this.#shares.push({ descriptor: this.#openFurther(), holder: undefined });
    }
    const holders = this.#shares.map(({ holder }) => holder?.name);
    for (const { socket, to } of planShares(holders, [...loops.keys()])) {
      await this.#move(this.#shares[socket], loops.get(to));
    }
    if (loops.size > 0) return;
    for (const share of this.#shares) await this.#move(share, undefined);
  }

  async #move(share: Share<L> | undefined, to: L | undefined): Promise<void> {
    if (share === undefined) return;
    const { descriptor, holder } = share;
    share.holder = undefined;
    await holder?.takeBack(descriptor);
    to?.lend(this.#listener, this.#transport, descriptor);
    share.holder = to;
  }
}

/** One socket that all loops have; for unix sockets, of which an address has one only. */
export class CommonSocket<L extends BorrowingLoop> implements SocketLending<L> {
  readonly #listener: string;
  readonly #descriptor: number;
  readonly #holders = new Map<string, L>();

  constructor(listener: string, descriptor: number) {
    this.#listener = listener;
    this.#descriptor = descriptor;
  }

  descriptors(): readonly number[] {
    return [this.#descriptor];
  }

  async spread(loops: ReadonlyMap<string, L>): Promise<void> {
    for (const [name, loop] of loops) {
      if (this.#holders.has(name)) continue;
      loop.lend(this.#listener, "stream", this.#descriptor);
      this.#holders.set(name, loop);
    }
    for (const [name, loop] of [...this.#holders]) {
      if (loops.has(name)) continue;
      this.#holders.delete(name);
      await loop.takeBack(this.#descriptor);
    }
  }
}
