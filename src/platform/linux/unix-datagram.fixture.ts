import { EventEmitter, once } from "node:events";
import { unixAddress } from "../socket-address.ts";
import { AF_UNIX, SOCK_CLOEXEC, SOCK_DGRAM, SOCK_NONBLOCK } from "./abi.ts";
import { watchReadable } from "./binding.ts";
import { close, read } from "./io-calls.ts";
import { allocateNative } from "./native-memory.ts";
import { socket } from "./socket-calls.ts";
import { bindTo } from "./socket-names.ts";
import { checked } from "./system-error.ts";

const MAX_BYTES = 4096;

/** A unix socket that takes datagrams, as a service manager has one. */
export class DatagramReceiver {
  readonly texts: string[] = [];
  readonly #events = new EventEmitter();
  readonly #descriptor: number;
  readonly #watch: { close(): void };

  /** @param path of the socket, or an abstract name as `@name` */
  constructor(path: string) {
    this.#descriptor = checked(
      "socket",
      socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0),
    );
    checked("bind", bindTo(this.#descriptor, unixAddress(path)));
    this.#watch = watchReadable(this.#descriptor, () => this.#read());
  }

  /** Waits until one of the texts says that. */
  async until(text: string): Promise<void> {
    while (!this.texts.some((one) => one.includes(text))) await once(this.#events, "text");
  }

  close(): void {
    this.#watch.close();
    close(this.#descriptor);
  }

  #read(): void {
    const memory = allocateNative(MAX_BYTES);
    const count = read(this.#descriptor, memory.address, MAX_BYTES);
    if (count < 0) return;
    this.texts.push(new TextDecoder().decode(memory.bytes.subarray(0, count)));
    this.#events.emit("text");
  }
}
