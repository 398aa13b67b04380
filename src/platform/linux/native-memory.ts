import { addressOf } from "./binding.ts";

/** Bytes that both JavaScript and system calls see; freed when nothing refers to it any more. */
export interface NativeMemory {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly address: number;
}

/** Zeroed memory. Always a buffer of its own: small typed arrays live in the heap and move. */
export function allocateNative(byteCount: number): NativeMemory {
  const buffer = new ArrayBuffer(byteCount);
  return {
    bytes: new Uint8Array(buffer),
    view: new DataView(buffer),
    address: addressOf(buffer),
  };
}

/** Writes a pointer into a structure. Addresses are below 2^53, so a number holds them exactly. */
export function putPointer(view: DataView, offset: number, address: number): void {
  putSize(view, offset, address);
}

/** Writes a size_t. */
export function putSize(view: DataView, offset: number, value: number): void {
  view.setUint32(offset, value % 2 ** 32, true);
  view.setUint32(offset + 4, Math.floor(value / 2 ** 32), true);
}

/** Reads a size_t, exactly as far as a number goes. */
export function getSize(view: DataView, offset: number): number {
  return view.getUint32(offset, true) + view.getUint32(offset + 4, true) * 2 ** 32;
}
