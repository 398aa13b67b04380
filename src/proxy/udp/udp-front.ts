import type { ListenerRole } from "../../net/acceptor.ts";
import type { DatagramFd } from "../../net/fd.ts";
import type {
  ChannelDescription,
  ChannelId,
  ReadyHandler,
  SelectorEventLoop,
} from "../../net/selector-event-loop.ts";

/** Then the other FDs of the loop have their turn. */
const MAX_BATCHES = 8;

/** What is done with the datagrams of clients. */
export interface FrontReader {
  /** Whose the front is, for those who list sockets. */
  describe(): ListenerRole;
  /** One of the batch that the FD just received. */
  pass(fd: DatagramFd, index: number): void;
  /** The batch is over, and the next one takes its place. */
  flush(): void;
}

/** A socket that the datagrams of clients come in by. */
export class UdpFront implements ReadyHandler {
  readonly fd: DatagramFd;
  readonly #loop: SelectorEventLoop;
  readonly #reader: FrontReader;
  #id: ChannelId | undefined;

  /** Watches it from now on; throws where the system refuses. */
  constructor(loop: SelectorEventLoop, fd: DatagramFd, reader: FrontReader) {
    this.#loop = loop;
    this.fd = fd;
    this.#reader = reader;
    this.#id = loop.add(fd, this);
  }

  /** Watches it no longer; it stays open. */
  leave(): void {
    if (this.#id !== undefined) this.#loop.remove(this.#id);
    this.#id = undefined;
  }

  onReady(): void {
    const { fd } = this;
    for (let batch = 0; batch < MAX_BATCHES && fd.readable; batch += 1) {
      const count = fd.receive();
      for (let index = 0; index < count; index += 1) this.#reader.pass(fd, index);
      this.#reader.flush();
      if (count < 0) return;
    }
    if (fd.readable) this.#loop.nextTick(() => this.#goOn());
  }

  onRemoved(): void {
    this.#id = undefined;
  }

  describe(): ChannelDescription {
    return { kind: "listener", local: this.fd.localAddress(), ...this.#reader.describe() };
  }

  #goOn(): void {
    if (this.#id !== undefined) this.onReady();
  }
}
