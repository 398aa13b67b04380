import { IOVEC_BYTES } from "../../platform/linux/abi.ts";
import { write, writev } from "../../platform/linux/io-calls.ts";
import {
  allocateNative,
  type NativeMemory,
  putPointer,
  putSize,
} from "../../platform/linux/native-memory.ts";

/** As many as the kernel takes at once: UIO_MAXIOV. */
const MAX_PIECES = 1024;

/** Gives packets to the kernel, each with a virtio header before it. */
export class TunWriter {
  readonly #descriptor: number;
  readonly #pieces: NativeMemory = allocateNative(MAX_PIECES * IOVEC_BYTES);
  #count = 0;
  /** What the kernel did not take. */
  failed = 0;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /** A whole packet in one place. */
  write(address: number, byteCount: number): void {
    if (write(this.#descriptor, address, byteCount) < 0) this.failed += 1;
  }

  /** A piece of the packet that `writePieces` gives away. */
  addPiece(address: number, byteCount: number): void {
    if (this.#count >= MAX_PIECES) return;
    putPointer(this.#pieces.view, this.#count * IOVEC_BYTES, address);
    putSize(this.#pieces.view, this.#count * IOVEC_BYTES + 8, byteCount);
    this.#count += 1;
  }

  writePieces(): void {
    if (writev(this.#descriptor, this.#pieces.address, this.#count) < 0) this.failed += 1;
    this.#count = 0;
  }
}
