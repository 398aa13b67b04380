import { ERRNO } from "../../errno.ts";
import { abiOf } from "../abi.ts";
import { bindCall, failure } from "../binding.ts";
import type { NativeMemory } from "../native-memory.ts";
import { NAME_BYTES } from "./bpf-numbers.ts";

/** The arguments of a command. Fields that a kernel does not know have to be 0; ours are all older. */
export const ATTRIBUTE_BYTES = 128;

const cSyscall = bindCall<[number, number, number, number]>(
  "int syscall(long, int, uintptr_t, uint)",
);

/**
 * bpf(2), which the C library has no function for: syscall(2). Returns a descriptor or 0; a negative
 * errno where it fails.
 */
export function bpf(
  command: number,
  attributes: NativeMemory,
  byteCount: number = attributes.bytes.length,
): number {
  const number = abiOf(process.arch)?.bpfCall;
  if (number === undefined) return -ERRNO.ENOSYS;
  const result = cSyscall(number, command, attributes.address, byteCount);
  return result < 0 ? failure() : result;
}

/** The name of a map or program; what is longer is cut. */
export function putName({ bytes }: NativeMemory, offset: number, name: string): void {
  bytes.set(Buffer.from(name, "latin1").subarray(0, NAME_BYTES - 1), offset);
}
