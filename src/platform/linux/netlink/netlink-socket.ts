import { performance } from "node:perf_hooks";
import { setImmediate as nextTurn } from "node:timers/promises";
import { CoreError } from "../../../core/errors.ts";
import type { NetlinkFailure } from "../../../wire/netlink/netlink-failure.ts";
import { NetlinkWriter } from "../../../wire/netlink/netlink-writer.ts";
import { type OnMessage, ReplyReader } from "../../../wire/netlink/reply-reader.ts";
import { ERRNO, errnoName } from "../../errno.ts";
import {
  AF_NETLINK,
  IOVEC_BYTES,
  MSG_TRUNC,
  MSGHDR_BYTES,
  MSGHDR_IOV,
  MSGHDR_IOVLEN,
  NETLINK_CAP_ACK,
  NETLINK_EXT_ACK,
  SO_RCVBUF,
  SO_RCVBUFFORCE,
  SO_SNDBUF,
  SO_SNDBUFFORCE,
  SOCK_CLOEXEC,
  SOCK_NONBLOCK,
  SOCK_RAW,
  SOL_NETLINK,
  SOL_SOCKET,
} from "../abi.ts";
import { watchReadable } from "../binding.ts";
import { close, write, writeSlowly } from "../io-calls.ts";
import { allocateNative, type NativeMemory, putPointer, putSize } from "../native-memory.ts";
import { recvmsg, setsockopt, socket } from "../socket-calls.ts";
import { checked } from "../system-error.ts";

/** The kernel fills parts of a dump up to the size of the reader's buffer, and no further than this. */
const RECEIVE_BYTES = 32_768;
/** Room for the errors of a whole batch, which the kernel would drop where they do not fit. */
const SOCKET_BUFFER_BYTES = 1_048_576;
/** More keeps the kernel busy for so long that another thread waits for it. */
const MANY_BYTES = 65_536;
const INT_BYTES = 4;
/** Exchanges, one or many in a row, give the thread back after that time. */
const SLICE_MS = 2;
/**
 * The clock is read after so much work only, in messages that were sent and KiB that came: where that is
 * a system call it takes as long as a short answer.
 */
const WORK_PER_LOOK = 16;
const KIB = 1024;
/** The kernel answers at once; what takes longer does not come. */
const ANSWER_TIMEOUT_MS = 5000;
const MAX_SEQUENCE = 0xffff_0000;

/** One datagram to the kernel: messages that are numbered one after the other. */
export interface NetlinkRequest {
  /** How many messages `write` writes. The last one is a dump or wants an acknowledgement. */
  readonly count: number;
  write(writer: NetlinkWriter, firstSequence: number): void;
  /** For each message of the answer that is neither an error nor an end. */
  onMessage?: OnMessage;
}

export interface NetlinkAnswer {
  /** Requests that failed, with their place in the batch; empty where all went well. */
  readonly failures: readonly (NetlinkFailure & { readonly index: number })[];
  /** Whether a dump is not of one moment: to be repeated where that matters. */
  readonly isInterrupted: boolean;
  /** Whether answers were lost (ENOBUFS): what was asked may be asked again, in smaller parts. */
  readonly isOverrun: boolean;
}

/** So many bytes, or what came in their place. */
type Received = number | "nothing" | "overrun";

/**
 * A socket to one family of the kernel's netlink, in the network namespace of the thread that opens
 * it. Exchanges run one at a time, on the thread of the caller, in short slices.
 */
export class NetlinkSocket {
  readonly #descriptor: number;
  readonly #inbox: NativeMemory = allocateNative(RECEIVE_BYTES);
  readonly #header: NativeMemory = allocateNative(MSGHDR_BYTES + IOVEC_BYTES);
  readonly #writer = new NetlinkWriter();
  readonly #outbox: NativeMemory = allocateNative(MANY_BYTES);
  /** How much room was asked for; the system has enough for less. */
  #sendBytes = MANY_BYTES;
  #sequence = 1;
  /** When it got the thread, which others had before; undefined before its first exchange of that time. */
  #sliceSinceMs: number | undefined;
  /** What was done since the clock was read. */
  #work = 0;
  #isOpen = true;
  /** Whether another thread has the descriptor: its number must not become another one's. */
  #isLent = false;
  #last: Promise<unknown> = Promise.resolve();

  /** @param protocol such as NETLINK_NETFILTER. @throws CoreError ERR_SYSTEM_CALL */
  constructor(protocol: number) {
    const type = SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC;
    this.#descriptor = checked("socket", socket(AF_NETLINK, type, protocol), "netlink");
    const { view, address } = this.#header;
    putPointer(view, MSGHDR_IOV, address + MSGHDR_BYTES);
    putSize(view, MSGHDR_IOVLEN, 1);
    putPointer(view, MSGHDR_BYTES, this.#inbox.address);
    putSize(view, MSGHDR_BYTES + 8, RECEIVE_BYTES);
    this.#setOptions();
  }

  /** @throws CoreError ERR_SYSTEM_CALL where the socket fails; refused requests are in the answer. */
  exchange(request: NetlinkRequest): Promise<NetlinkAnswer> {
    const answer = this.#last.then(() => this.#exchange(request));
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (!this.#isLent) close(this.#descriptor);
  }

  /** Old kernels lack some; then errors say less and buffers are smaller, nothing else. */
  #setOptions(): void {
    this.#setOption(SOL_NETLINK, NETLINK_CAP_ACK, 1);
    this.#setOption(SOL_NETLINK, NETLINK_EXT_ACK, 1);
    if (!this.#setOption(SOL_SOCKET, SO_RCVBUFFORCE, SOCKET_BUFFER_BYTES)) {
      this.#setOption(SOL_SOCKET, SO_RCVBUF, SOCKET_BUFFER_BYTES);
    }
  }

  #setOption(level: number, option: number, number: number): boolean {
    const { view, address } = allocateNative(INT_BYTES);
    view.setInt32(0, number, true);
    return setsockopt(this.#descriptor, level, option, address, INT_BYTES) >= 0;
  }

  async #exchange({ count, write: fill, onMessage }: NetlinkRequest): Promise<NetlinkAnswer> {
    if (this.#isSliceOver(count)) await this.#pause();
    if (!this.#isOpen) throw new CoreError("ERR_ABORTED", "the netlink socket is closed");
    const first = this.#takeSequences(count);
    this.#writer.clear();
    fill(this.#writer, first);
    await this.#send(this.#writer.written());
    const reader = new ReplyReader(first, first + count - 1, onMessage ?? (() => undefined));
    let received: Received = 0;
    while (!reader.isDone && received !== "overrun") {
      received = this.#receive(reader);
      if (received === "nothing") await this.#readable();
      else if (received !== "overrun" && this.#isSliceOver(received / KIB) && !reader.isDone) {
        await this.#pause();
      }
    }
    if (received === "overrun") this.#empty(reader);
    return {
      failures: reader.failures.map((failure) => ({ ...failure, index: failure.sequence - first })),
      isInterrupted: reader.isInterrupted,
      isOverrun: received === "overrun",
    };
  }

  /** For as long as anything is left of answers that were too many, the kernel drops those to what is asked next. */
  #empty(reader: ReplyReader): void {
    while (this.#receive(reader) !== "nothing");
  }

  #isSliceOver(work: number): boolean {
    this.#sliceSinceMs ??= performance.now();
    this.#work += work;
    if (this.#work < WORK_PER_LOOK) return false;
    const isOver = performance.now() - this.#sliceSinceMs > SLICE_MS;
    if (!isOver) this.#work = 0;
    return isOver;
  }

  /** The kernel answers at once, so that nothing else would run between one answer and the next. */
  async #pause(): Promise<void> {
    await nextTurn();
    this.#beginSlice();
  }

  #beginSlice(): void {
    this.#sliceSinceMs = undefined;
    this.#work = 0;
  }

  #takeSequences(count: number): number {
    if (this.#sequence + count > MAX_SEQUENCE) this.#sequence = 1;
    const first = this.#sequence;
    this.#sequence += count;
    return first;
  }

  async #send(bytes: Uint8Array): Promise<void> {
    if (bytes.length > MANY_BYTES) return this.#sendMany(bytes);
    this.#outbox.bytes.set(bytes);
    const { address } = this.#outbox;
    let result = write(this.#descriptor, address, bytes.length);
    while (result === -ERRNO.EINTR) result = write(this.#descriptor, address, bytes.length);
    checked("write", result, "netlink");
  }

  /** In memory of its own, which goes when it is sent. */
  async #sendMany(bytes: Uint8Array): Promise<void> {
    this.#makeRoom(bytes.length);
    const { bytes: copy, address } = allocateNative(bytes.length);
    copy.set(bytes);
    this.#writer.clear();
    let result = await this.#lend(address, copy.length);
    while (result === -ERRNO.EINTR && this.#isOpen) result = await this.#lend(address, copy.length);
    this.#beginSlice();
    checked("write", result, "netlink");
  }

  async #lend(address: number, byteCount: number): Promise<number> {
    this.#isLent = true;
    try {
      return await writeSlowly(this.#descriptor, address, byteCount);
    } finally {
      this.#isLent = false;
      if (!this.#isOpen) close(this.#descriptor);
    }
  }

  #makeRoom(byteCount: number): void {
    if (byteCount <= this.#sendBytes) return;
    this.#sendBytes = byteCount;
    if (!this.#setOption(SOL_SOCKET, SO_SNDBUFFORCE, byteCount)) {
      this.#setOption(SOL_SOCKET, SO_SNDBUF, byteCount);
    }
  }

  #receive(reader: ReplyReader): Received {
    if (!this.#isOpen) throw new CoreError("ERR_ABORTED", "the netlink socket was closed");
    const result = recvmsg(this.#descriptor, this.#header.address, MSG_TRUNC);
    if (result === -ERRNO.EAGAIN) return "nothing";
    if (result === -ERRNO.EINTR) return 0;
    if (result === -ERRNO.ENOBUFS) return "overrun";
    checked("recvmsg", result, "netlink");
    if (result > RECEIVE_BYTES) {
      throw new CoreError(
        "ERR_SYSTEM_CALL",
        `recvmsg of netlink: a message of ${result} bytes; expected at most ${RECEIVE_BYTES}`,
      );
    }
    reader.feed(new DataView(this.#inbox.bytes.buffer, 0, result));
    return result;
  }

  #readable(): Promise<void> {
    return new Promise((resolve, reject) => {
      const watch = watchReadable(this.#descriptor, () => {
        clearTimeout(timer);
        watch.close();
        this.#beginSlice();
        resolve();
      });
      const timer = setTimeout(() => {
        watch.close();
        const message = `the kernel did not answer a netlink request within ${ANSWER_TIMEOUT_MS} ms`;
        reject(new CoreError("ERR_SYSTEM_CALL", message));
      }, ANSWER_TIMEOUT_MS);
    });
  }
}

/** A refused request as an error that names what was asked, the errno and the kernel's words. */
export function requestError(what: string, failure: NetlinkFailure): CoreError {
  const { errno, text, missingType } = failure;
  const words = [
    errnoName(errno),
    ...(text === "" ? [] : [text]),
    ...(missingType === undefined ? [] : [`attribute ${missingType} is missing`]),
  ];
  return new CoreError("ERR_SYSTEM_CALL", `${what} failed: ${words.join(", ")}`);
}
