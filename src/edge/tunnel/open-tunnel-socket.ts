import { CoreError } from "../../core/errors.ts";
import { isWildcard } from "../../core/model/address.ts";
import { errnoName } from "../../platform/errno.ts";
import { SOCK_CLOEXEC, SOCK_DGRAM, SOCK_NONBLOCK } from "../../platform/linux/abi.ts";
import { close } from "../../platform/linux/io-calls.ts";
import { domainOf } from "../../platform/linux/sockaddr.ts";
import { socket } from "../../platform/linux/socket-calls.ts";
import { bindTo } from "../../platform/linux/socket-names.ts";
import {
  forceBuffers,
  setReceiveBuffer,
  setUdpGro,
  setV6Only,
} from "../../platform/linux/socket-options.ts";
import { formatSocketAddress, type IpSocketAddress } from "../../platform/socket-address.ts";

/** A burst of super-packets of several peers. */
const BUFFER_BYTES = 8_388_608;

/** The socket that peers send to. @throws CoreError ERR_LISTEN */
export function openTunnelSocket(listen: IpSocketAddress): number {
  const descriptor = socket(domainOf(listen), SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const result = descriptor < 0 ? descriptor : prepare(descriptor, listen);
  if (result >= 0) return descriptor;
  if (descriptor >= 0) close(descriptor);
  throw new CoreError(
    "ERR_LISTEN",
    `the tunnel can not listen on ${formatSocketAddress(listen)}: ${errnoName(result)}`,
  );
}

function prepare(descriptor: number, listen: IpSocketAddress): number {
  const isOnlyV6 = listen.family === "v6" && !isWildcard(listen.ip);
  const only = isOnlyV6 ? setV6Only(descriptor) : 0;
  if (only < 0) return only;
  const bound = bindTo(descriptor, listen);
  if (bound < 0) return bound;
  if (forceBuffers(descriptor, BUFFER_BYTES) < 0) setReceiveBuffer(descriptor, BUFFER_BYTES);
  // Where the kernel does not know it (before 5.0), datagrams come one by one.
  setUdpGro(descriptor);
  return 0;
}
