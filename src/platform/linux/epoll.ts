import { CoreError } from "../../core/errors.ts";
import { ERRNO } from "../errno.ts";
import { abiOf, EPOLL_CLOEXEC, EPOLL_CTL_ADD, EPOLL_CTL_DEL } from "./abi.ts";
import { epollCreate, epollCtl, epollWait } from "./epoll-calls.ts";
import { allocateNative } from "./native-memory.ts";
import { checked } from "./system-error.ts";

const BYTES_PER_WORD = 4;

/**
 * epoll(7). Every registration carries two 32-bit numbers of the caller, which come back with each
 * event: a slot and its generation, so that an event for something closed in the meantime is told
 * apart from one for what took its place. Events are read in place, after `wait`, until the next one.
 */
export class Epoll {
  readonly descriptor: number;
  readonly #maxEvents: number;
  readonly #stride: number;
  readonly #dataWord: number;
  readonly #events: Uint32Array;
  readonly #eventsAddress: number;
  readonly #change: Uint32Array;
  readonly #changeAddress: number;

  constructor(maxEvents: number) {
    const abi = abiOf(process.arch);
    if (abi === undefined) {
      throw new CoreError(
        "ERR_NOT_POSSIBLE_HERE",
        `epoll: the layouts of processor "${process.arch}" are not known; x64 and arm64 are`,
      );
    }
    this.#maxEvents = maxEvents;
    this.#stride = abi.epollEventWords;
    this.#dataWord = abi.epollDataWord;
    const events = allocateNative(maxEvents * abi.epollEventWords * BYTES_PER_WORD);
    this.#events = new Uint32Array(events.bytes.buffer);
    this.#eventsAddress = events.address;
    const change = allocateNative(abi.epollEventWords * BYTES_PER_WORD);
    this.#change = new Uint32Array(change.bytes.buffer);
    this.#changeAddress = change.address;
    this.descriptor = checked("epoll_create1", epollCreate(EPOLL_CLOEXEC));
  }

  /** 0, or a negative errno. */
  add(descriptor: number, events: number, slot: number, generation: number): number {
    this.#change[0] = events;
    this.#change[this.#dataWord] = slot;
    this.#change[this.#dataWord + 1] = generation;
    return epollCtl(this.descriptor, EPOLL_CTL_ADD, descriptor, this.#changeAddress);
  }

  remove(descriptor: number): number {
    return epollCtl(this.descriptor, EPOLL_CTL_DEL, descriptor, this.#changeAddress);
  }

  /** How many events there are; none where a signal came first. -1 ms waits without end. */
  wait(timeoutMs: number): number {
    const count = epollWait(this.descriptor, this.#eventsAddress, this.#maxEvents, timeoutMs);
    if (count >= 0) return count;
    return count === -ERRNO.EINTR ? 0 : checked("epoll_wait", count);
  }

  eventsAt(index: number): number {
    return this.#events[index * this.#stride] ?? 0;
  }

  slotAt(index: number): number {
    return this.#events[index * this.#stride + this.#dataWord] ?? 0;
  }

  generationAt(index: number): number {
    return this.#events[index * this.#stride + this.#dataWord + 1] ?? 0;
  }
}
