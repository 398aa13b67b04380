import { MSG_PEEK } from "./abi.ts";
import { bindCall, failure } from "./binding.ts";

const cRecv = bindCall<[number, number, number, number]>("int recv(int, uintptr_t, size_t, int)");

/** recv(2) that leaves the bytes to be read again: how many; 0 at the end of a stream. */
export function peek(fd: number, address: number, byteCount: number): number {
  const result = cRecv(fd, address, byteCount, MSG_PEEK);
  return result < 0 ? failure() : result;
}
