import { close } from "../../platform/linux/io-calls.ts";
import { localAddressOf } from "../../platform/linux/socket-names.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import type { GroupResource } from "../groups/event-loop-group.ts";
import type { EventLoopWrapper } from "../groups/event-loop-wrapper.ts";
import { openFirstListening, openFurtherListening, removeSocketFile } from "./listening-socket.ts";
import {
  type BorrowingLoop,
  CommonSocket,
  type SocketLending,
  SpreadSockets,
  type Transport,
} from "./socket-lending.ts";

export interface SharedListenerOptions {
  /** Names it to the programs of the loops. */
  readonly id: string;
  readonly transport: Transport;
  /** How many connections may wait in each socket. */
  readonly backlog: number;
}

/**
 * A listener on the loops of a group: attach it to one. The main thread owns its sockets and lends
 * them, so a loop that goes or dies closes none, and no connection that waits in one is lost.
 */
export class SharedListener<L extends BorrowingLoop> implements GroupResource<L> {
  readonly id: string;
  /** With the port that was found where any free one was wanted. */
  readonly address: SocketAddress;
  readonly #lending: SocketLending<L>;
  readonly #loops = new Map<string, L>();
  #work: Promise<void> = Promise.resolve();
  #isClosed = false;

  private constructor(options: SharedListenerOptions, descriptors: readonly [number, ...number[]]) {
    const { id, transport } = options;
    this.id = id;
    this.address = localAddressOf(descriptors[0]);
    this.#lending =
      this.address.family === "unix"
        ? new CommonSocket(id, descriptors[0])
        : new SpreadSockets({
            listener: id,
            transport,
            descriptors,
            openFurther: () => openFurtherListening(this.address, options),
          });
  }

  /** Throws ERR_LISTEN, with the remedy, where the address can not be had. */
  static open<L extends BorrowingLoop>(
    on: SocketAddress,
    options: SharedListenerOptions,
  ): SharedListener<L> {
    return new SharedListener(options, [openFirstListening(on, options)]);
  }

  /** Goes on with sockets that another process gave. */
  static adopt<L extends BorrowingLoop>(
    descriptors: readonly [number, ...number[]],
    options: SharedListenerOptions,
  ): SharedListener<L> {
    return new SharedListener(options, descriptors);
  }

  /** For another process to take over. */
  descriptors(): readonly number[] {
    return this.#lending.descriptors();
  }

  onLoopAdded({ loop }: EventLoopWrapper<L>): Promise<void> {
    this.#loops.set(loop.name, loop);
    return this.#spread();
  }

  onLoopRemoved({ loop }: EventLoopWrapper<L>): Promise<void> {
    this.#loops.delete(loop.name);
    return this.#spread();
  }

  onGroupClosed(): Promise<void> {
    return this.close();
  }

  /** Accepts no more; connections that still wait in the sockets are lost. */
  async close(): Promise<void> {
    await this.release();
    removeSocketFile(this.address);
  }

  /** Accepts no more in this process; the one that took the sockets over goes on. */
  async release(): Promise<void> {
    this.#loops.clear();
    await this.#spread();
    // Somebody else may have closed it meanwhile: then the numbers may be of others.
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const descriptor of this.#lending.descriptors()) close(descriptor);
  }

  /** One change at a time: each starts from where the one before left the sockets. */
  #spread(): Promise<void> {
    const done = this.#work.then(async () => {
      if (!this.#isClosed) await this.#lending.spread(this.#loops);
    });
    this.#work = done.catch(() => undefined);
    return done;
  }
}
