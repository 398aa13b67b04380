import {
  CMSG_LEVEL,
  CMSG_TYPE,
  CMSGHDR_BYTES,
  IOVEC_BYTES,
  MMSGHDR_BYTES,
  MSG_DONTWAIT,
  MSGHDR_CONTROL,
  MSGHDR_CONTROLLEN,
  MSGHDR_IOV,
  MSGHDR_IOVLEN,
  MSGHDR_NAME,
  MSGHDR_NAMELEN,
  SOL_UDP,
  UDP_SEGMENT,
} from "./abi.ts";
import { allocateNative, type NativeMemory, putPointer, putSize } from "./native-memory.ts";
import { sendmmsg } from "./socket-calls.ts";

/** A control message with 16 bits, padded. */
const CONTROL_BYTES = CMSGHDR_BYTES + 8;
const HIGH_WORD = 2 ** 32;

/** The most datagrams that the kernel makes of one message: UDP_MAX_SEGMENTS of linux/udp.h before 6.9. */
export const MAX_SEGMENTS = 64;
/** The most bytes of one message: what an IP packet holds, with room for its headers. */
export const MAX_MESSAGE_BYTES = 65_400;

/** Messages for one sendmmsg(2), each cut into datagrams by the kernel. It refers to memory of others until `flush`. */
export class SegmentSender {
  readonly #maxMessages: number;
  readonly #maxIovecs: number;
  readonly #headers: NativeMemory;
  readonly #words: Uint32Array;
  readonly #controls: DataView;
  readonly #iovecs: Uint32Array;
  readonly #iovecsAddress: number;
  readonly #onFailed: (message: number, result: number) => void;
  #messages = 0;
  #iovecCount = 0;

  /** @param onFailed which message of the batch was refused, and the negative errno */
  constructor(options: {
    readonly maxMessages: number;
    readonly maxIovecs: number;
    readonly onFailed: (message: number, result: number) => void;
  }) {
    this.#maxMessages = options.maxMessages;
    this.#maxIovecs = options.maxIovecs;
    this.#onFailed = options.onFailed;
    this.#headers = allocateNative(options.maxMessages * MMSGHDR_BYTES);
    this.#words = new Uint32Array(this.#headers.bytes.buffer);
    const controls = allocateNative(options.maxMessages * CONTROL_BYTES);
    this.#controls = controls.view;
    const iovecs = allocateNative(options.maxIovecs * IOVEC_BYTES);
    this.#iovecs = new Uint32Array(iovecs.bytes.buffer);
    this.#iovecsAddress = iovecs.address;
    for (let index = 0; index < options.maxMessages; index += 1) {
      const control = index * CONTROL_BYTES;
      putSize(controls.view, control, CMSGHDR_BYTES + 2);
      controls.view.setInt32(control + CMSG_LEVEL, SOL_UDP, true);
      controls.view.setInt32(control + CMSG_TYPE, UDP_SEGMENT, true);
      const header = index * MMSGHDR_BYTES;
      putPointer(this.#headers.view, header + MSGHDR_CONTROL, controls.address + control);
    }
  }

  get messages(): number {
    return this.#messages;
  }

  /** Where the next iovec goes. */
  get iovecCount(): number {
    return this.#iovecCount;
  }

  /** Whether so many messages of so many pieces together would still fit. */
  hasRoom(messages: number, pieces: number): boolean {
    return (
      this.#messages + messages <= this.#maxMessages && this.#iovecCount + pieces <= this.#maxIovecs
    );
  }

  /** A piece of the message that `add` makes. */
  addPiece(address: number, byteCount: number): void {
    const at = this.#iovecCount * 4;
    this.#iovecs[at] = address % HIGH_WORD;
    this.#iovecs[at + 1] = address / HIGH_WORD;
    this.#iovecs[at + 2] = byteCount;
    this.#iovecs[at + 3] = 0;
    this.#iovecCount += 1;
  }

  /** The pieces from `firstIovec` on, to a sockaddr; cut every `segmentBytes`, unless that is 0. */
  add(firstIovec: number, name: number, nameBytes: number, segmentBytes: number): void {
    const index = this.#messages;
    const words = this.#words;
    const at = (index * MMSGHDR_BYTES) / 4;
    const iovec = this.#iovecsAddress + firstIovec * IOVEC_BYTES;
    words[at + MSGHDR_NAME / 4] = name % HIGH_WORD;
    words[at + MSGHDR_NAME / 4 + 1] = name / HIGH_WORD;
    words[at + MSGHDR_NAMELEN / 4] = nameBytes;
    words[at + MSGHDR_IOV / 4] = iovec % HIGH_WORD;
    words[at + MSGHDR_IOV / 4 + 1] = iovec / HIGH_WORD;
    words[at + MSGHDR_IOVLEN / 4] = this.#iovecCount - firstIovec;
    words[at + MSGHDR_CONTROLLEN / 4] = segmentBytes === 0 ? 0 : CONTROL_BYTES;
    if (segmentBytes !== 0) {
      this.#controls.setUint16(index * CONTROL_BYTES + CMSGHDR_BYTES, segmentBytes, true);
    }
    this.#messages += 1;
  }

  /** Sends all. One that is refused does not hold up the others; what finds no room is lost, as UDP may. */
  flush(fd: number): void {
    let next = 0;
    while (next < this.#messages) {
      const address = this.#headers.address + next * MMSGHDR_BYTES;
      const sent = sendmmsg(fd, address, this.#messages - next, MSG_DONTWAIT);
      if (sent > 0) next += sent;
      else {
        this.#onFailed(next, sent);
        next += 1;
      }
    }
    this.#messages = 0;
    this.#iovecCount = 0;
  }
}
