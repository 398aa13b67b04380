import { AF_INET, SO_NETNS_COOKIE, SOCK_CLOEXEC, SOCK_DGRAM, SOL_SOCKET } from "./abi.ts";
import { close } from "./io-calls.ts";
import { allocateNative } from "./native-memory.ts";
import { getsockopt, socket } from "./socket-calls.ts";
import { checked } from "./system-error.ts";

const COOKIE_BYTES = 8;
const LENGTH = 8;

/**
 * The number by which eBPF programs know the network namespace of this thread; socket(7), Linux 5.14.
 * @throws CoreError ERR_SYSTEM_CALL where the kernel does not tell it
 */
export function namespaceCookie(): bigint {
  const fd = checked("socket", socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  try {
    const { view, address } = allocateNative(LENGTH + 4);
    view.setInt32(LENGTH, COOKIE_BYTES, true);
    const result = getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, address, address + LENGTH);
    checked("getsockopt", result, "SO_NETNS_COOKIE");
    return view.getBigUint64(0, true);
  } finally {
    close(fd);
  }
}
