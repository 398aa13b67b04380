import { bindCall, failure, viewMemory } from "./binding.ts";
import { checked } from "./system-error.ts";

const cMmap = bindCall<[number, number, number, number, number, number]>(
  "intptr_t mmap(uintptr_t, size_t, int, int, int, long)",
);
const cMunmap = bindCall<[number, number]>("int munmap(uintptr_t, size_t)");

const PROT_READ_WRITE = 3;
const MAP_SHARED = 1;

/** Memory of a descriptor that others read and write, too. */
export interface MappedMemory {
  readonly buffer: ArrayBuffer;
  /** Nobody may touch the buffer after it: the process would end there. */
  close(): void;
}

/** mmap(2). @throws CoreError ERR_SYSTEM_CALL */
export function mapMemory(descriptor: number, byteCount: number): MappedMemory {
  const address = cMmap(0, byteCount, PROT_READ_WRITE, MAP_SHARED, descriptor, 0);
  checked("mmap", address === -1 ? failure() : 0, `${byteCount} bytes`);
  return {
    buffer: viewMemory(address, byteCount),
    close: () => {
      cMunmap(address, byteCount);
    },
  };
}
