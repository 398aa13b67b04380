import koffi from "koffi";

/**
 * The C library that Node itself runs on, whatever its name (glibc, musl): its symbols are already in
 * the process. Only this folder knows that calls go through koffi.
 *
 * Pointers are declared as integers and passed as numbers, into memory whose address is known: an
 * argument that is a buffer costs more than the whole call.
 */
const libc = koffi.load(null);

/** A C function by its prototype. Where symbols are missing this throws, naming the symbol. */
export function bindCall<A extends readonly number[]>(prototype: string): (...args: A) => number {
  return libc.func(prototype);
}

/**
 * A C function that takes long, called on another thread: settles with what it returned, or the negative
 * errno where that is -1.
 */
export function bindSlowCall<A extends readonly number[]>(
  prototype: string,
): (...args: A) => Promise<number> {
  const call = libc.func(prototype);
  return (...args) =>
    new Promise((resolve, reject) => {
      call.async(...args, (error: unknown, result: number) => {
        if (error) reject(error);
        else resolve(result < 0 ? failure() : result);
      });
    });
}

/** A C function that returns a constant text, or null. */
export function bindText<A extends readonly number[]>(
  prototype: string,
): (...args: A) => string | null {
  return libc.func(prototype);
}

/**
 * A JavaScript function as a C function: its address. It is called on the thread that made it, during
 * a call that goes out from there, and must not throw. It lives as long as the process.
 */
export function addressOfCallback<A extends readonly number[]>(
  result: string,
  parameters: readonly string[],
  callback: (...args: A) => number,
): number {
  const type = koffi.pointer(koffi.proto(result, [...parameters]));
  return Number(koffi.address(koffi.register(callback, type)));
}

/** The error of the last call of this thread that returned -1, as calls here return it. */
export function failure(): number {
  return -koffi.errno();
}

/** Where the bytes of a buffer are; they stay there as long as the buffer lives. */
export function addressOf(buffer: ArrayBufferLike): number {
  return Number(koffi.address(new Uint8Array(buffer)));
}

/** Memory that the system gave, as a buffer. It must stay mapped for as long as anybody uses the buffer. */
export function viewMemory(address: number, byteCount: number): ArrayBuffer {
  return koffi.view(BigInt(address), byteCount);
}

/** Has Node's own event loop watch a descriptor; for the main thread, never for a blocked loop. */
export function watchReadable(descriptor: number, onReadable: () => void): { close(): void } {
  const handle = koffi.node.poll(descriptor, { readable: true }, onReadable);
  return { close: () => handle.close() };
}
