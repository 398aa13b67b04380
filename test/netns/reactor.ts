import { EPOLLIN, EPOLLOUT } from "../../src/platform/linux/abi.ts";
import { watchReadable } from "../../src/platform/linux/binding.ts";
import { Epoll } from "../../src/platform/linux/epoll.ts";
import { close } from "../../src/platform/linux/io-calls.ts";
import { checked } from "../../src/platform/linux/system-error.ts";

const MAX_EVENTS = 256;

/** Tells when sockets of any namespace are ready; Node's own loop drives it. */
export class Reactor {
  readonly #epoll: Epoll = new Epoll(MAX_EVENTS);
  readonly #handlers = new Map<number, () => void>();
  readonly #watch: { close(): void };

  constructor() {
    this.#watch = watchReadable(this.#epoll.descriptor, () => this.#turn());
  }

  /** Called whenever there is something to read, or an error. */
  onReadable(descriptor: number, handler: () => void): void {
    this.#add(descriptor, EPOLLIN, handler);
  }

  /** Called also when a connection stands. */
  onChange(descriptor: number, handler: () => void): void {
    this.#add(descriptor, EPOLLIN | EPOLLOUT, handler);
  }

  /** Closes a descriptor and forgets it. */
  drop(descriptor: number): void {
    this.#handlers.delete(descriptor);
    this.#epoll.remove(descriptor);
    close(descriptor);
  }

  close(): void {
    this.#watch.close();
    for (const descriptor of [...this.#handlers.keys()]) this.drop(descriptor);
    close(this.#epoll.descriptor);
  }

  #add(descriptor: number, events: number, handler: () => void): void {
    // A watch for writing would be told again and again once a connection stands.
    this.#epoll.remove(descriptor);
    checked("epoll_ctl", this.#epoll.add(descriptor, events, descriptor, 0));
    this.#handlers.set(descriptor, handler);
  }

  #turn(): void {
    const count = this.#epoll.wait(0);
    const ready = Array.from({ length: count }, (_, index) => this.#epoll.slotAt(index));
    for (const descriptor of ready) this.#handlers.get(descriptor)?.();
  }
}
