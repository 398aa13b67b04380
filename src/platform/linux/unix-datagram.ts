import { unixAddress } from "../socket-address.ts";
import { AF_UNIX, SOCK_CLOEXEC, SOCK_DGRAM, SOCK_NONBLOCK } from "./abi.ts";
import { close, write } from "./io-calls.ts";
import { allocateNative } from "./native-memory.ts";
import { socket } from "./socket-calls.ts";
import { connectTo } from "./socket-names.ts";
import { checked } from "./system-error.ts";

/**
 * Sends one datagram to a unix socket (unix(7)); never waits.
 * @param path of the socket, or an abstract name as `@name`
 * @throws CoreError ERR_SYSTEM_CALL
 */
export function sendUnixDatagram(path: string, text: string): void {
  const descriptor = checked(
    "socket",
    socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0),
  );
  try {
    checked("connect", connectTo(descriptor, unixAddress(path)));
    const bytes = new TextEncoder().encode(text);
    const memory = allocateNative(bytes.length);
    memory.bytes.set(bytes);
    checked("write", write(descriptor, memory.address, bytes.length));
  } finally {
    close(descriptor);
  }
}
