import {
  CMSG_TYPE,
  CMSGHDR_BYTES,
  IOVEC_BYTES,
  MMSGHDR_BYTES,
  MMSGHDR_LEN,
  MSG_DONTWAIT,
  MSGHDR_CONTROL,
  MSGHDR_CONTROLLEN,
  MSGHDR_IOV,
  MSGHDR_IOVLEN,
  MSGHDR_NAME,
  MSGHDR_NAMELEN,
  UDP_GRO,
} from "./abi.ts";
import { allocateNative, type NativeMemory, putPointer, putSize } from "./native-memory.ts";
import { recvmmsg } from "./socket-calls.ts";

const CONTROL_BYTES = 32;
const NAME_BYTES = 32;
const BUFFER_BYTES = 65_536 + 64;
/** Before each message, for headers that are put in front of what came. */
const HEADROOM_BYTES = 64;

/** Messages received with one recvmmsg(2), each of one or more datagrams of equal length (the last may be shorter). */
export class SegmentReceiver {
  readonly #count: number;
  readonly #headers: NativeMemory;
  readonly #controls: NativeMemory;
  readonly #names: NativeMemory;
  /** What came; offsets are into this. */
  readonly memory: NativeMemory;

  constructor(count: number) {
    this.#count = count;
    this.#headers = allocateNative(count * (MMSGHDR_BYTES + IOVEC_BYTES));
    this.#controls = allocateNative(count * CONTROL_BYTES);
    this.#names = allocateNative(count * NAME_BYTES);
    this.memory = allocateNative(count * (HEADROOM_BYTES + BUFFER_BYTES));
    const { view, address } = this.#headers;
    for (let index = 0; index < count; index += 1) {
      const header = index * MMSGHDR_BYTES;
      const iovec = count * MMSGHDR_BYTES + index * IOVEC_BYTES;
      putPointer(view, header + MSGHDR_NAME, this.#names.address + index * NAME_BYTES);
      putPointer(view, header + MSGHDR_IOV, address + iovec);
      putSize(view, header + MSGHDR_IOVLEN, 1);
      putPointer(view, header + MSGHDR_CONTROL, this.#controls.address + index * CONTROL_BYTES);
      putPointer(view, iovec, this.memory.address + this.offsetOf(index));
      putSize(view, iovec + 8, BUFFER_BYTES);
    }
  }

  /** How many messages, or a negative errno. */
  receive(fd: number): number {
    const { view, address } = this.#headers;
    for (let index = 0; index < this.#count; index += 1) {
      view.setUint32(index * MMSGHDR_BYTES + MSGHDR_NAMELEN, NAME_BYTES, true);
      view.setUint32(index * MMSGHDR_BYTES + MSGHDR_CONTROLLEN, CONTROL_BYTES, true);
    }
    return recvmmsg(fd, address, this.#count, MSG_DONTWAIT);
  }

  offsetOf(index: number): number {
    return index * (HEADROOM_BYTES + BUFFER_BYTES) + HEADROOM_BYTES;
  }

  lengthOf(index: number): number {
    return this.#headers.view.getUint32(index * MMSGHDR_BYTES + MMSGHDR_LEN, true);
  }

  /** How long each datagram is but the last. */
  segmentBytesOf(index: number): number {
    const header = index * MMSGHDR_BYTES;
    const control = index * CONTROL_BYTES;
    const has = this.#headers.view.getUint32(header + MSGHDR_CONTROLLEN, true) > CMSGHDR_BYTES;
    const { view } = this.#controls;
    if (!has || view.getInt32(control + CMSG_TYPE, true) !== UDP_GRO) return this.lengthOf(index);
    return view.getInt32(control + CMSGHDR_BYTES, true);
  }

  /** The sockaddr of who sent it: in this memory, at this place. */
  get names(): NativeMemory {
    return this.#names;
  }

  nameAt(index: number): number {
    return index * NAME_BYTES;
  }

  nameLengthOf(index: number): number {
    return this.#headers.view.getUint32(index * MMSGHDR_BYTES + MSGHDR_NAMELEN, true);
  }
}
