import type { EventLoopGroup } from "../../net/groups/event-loop-group.ts";
import type { SharedListener } from "../../net/listeners/shared-listener.ts";
import type { LoopThread } from "../../net/threads/loop-thread.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import type { OpenSocket } from "./fleet.ts";

/** The sockets of a listener, on the loops of a group that may become another. */
export class PosixSocket implements OpenSocket {
  readonly #listener: SharedListener<LoopThread>;
  readonly #groupOf: (name: string) => EventLoopGroup<LoopThread>;
  #group: EventLoopGroup<LoopThread>;

  /** Settles when the loops of the group serve it. */
  static async attach(
    listener: SharedListener<LoopThread>,
    group: EventLoopGroup<LoopThread>,
    groupOf: (name: string) => EventLoopGroup<LoopThread>,
  ): Promise<PosixSocket> {
    await group.attach(listener);
    return new PosixSocket(listener, group, groupOf);
  }

  private constructor(
    listener: SharedListener<LoopThread>,
    group: EventLoopGroup<LoopThread>,
    groupOf: (name: string) => EventLoopGroup<LoopThread>,
  ) {
    this.#listener = listener;
    this.#group = group;
    this.#groupOf = groupOf;
  }

  get address(): SocketAddress {
    return this.#listener.address;
  }

  descriptors(): readonly number[] {
    return this.#listener.descriptors();
  }

  async moveTo(name: string): Promise<void> {
    const [from, to] = [this.#group, this.#groupOf(name)];
    if (from === to) return;
    this.#group = to;
    // What comes in between waits in the sockets. The other way round there would be more of them
    // for a moment, and the kernel would spread the clients of datagrams anew.
    await from.leave(this.#listener);
    await to.attach(this.#listener);
  }

  async release(): Promise<void> {
    this.#group.detach(this.#listener.id);
    await this.#listener.release();
  }

  async close(): Promise<void> {
    this.#group.detach(this.#listener.id);
    await this.#listener.close();
  }
}
