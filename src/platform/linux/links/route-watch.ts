import {
  NETLINK_ROUTE,
  RTMGRP_IPV4_IFADDR,
  RTMGRP_IPV6_IFADDR,
  RTMGRP_LINK,
} from "../../../wire/netlink/route/route-words.ts";
import { ERRNO } from "../../errno.ts";
import { AF_NETLINK, SOCK_CLOEXEC, SOCK_NONBLOCK, SOCK_RAW } from "../abi.ts";
import { watchReadable } from "../binding.ts";
import { close, read } from "../io-calls.ts";
import { allocateNative } from "../native-memory.ts";
import { bind, socket } from "../socket-calls.ts";
import { checked } from "../system-error.ts";

/** struct sockaddr_nl: family (2), padding (2), port (4), groups (4). */
const SOCKADDR_NL_BYTES = 12;
const GROUPS_AT = 8;
const RECEIVE_BYTES = 32_768;

/**
 * Tells that links or addresses of the network namespace of this thread changed; which ones is to be
 * looked up. What comes at once is told once.
 * @throws CoreError ERR_SYSTEM_CALL
 */
export function watchLinks(onChange: () => void): { close(): void } {
  const type = SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC;
  const descriptor = checked("socket", socket(AF_NETLINK, type, NETLINK_ROUTE), "netlink");
  const name = allocateNative(SOCKADDR_NL_BYTES);
  name.view.setUint16(0, AF_NETLINK, true);
  const groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
  name.view.setUint32(GROUPS_AT, groups, true);
  const inbox = allocateNative(RECEIVE_BYTES);
  try {
    checked("bind", bind(descriptor, name.address, SOCKADDR_NL_BYTES), "netlink");
  } catch (error) {
    close(descriptor);
    throw error;
  }
  const watch = watchReadable(descriptor, () => {
    // What was lost (ENOBUFS) is a change as well.
    while (isMore(read(descriptor, inbox.address, RECEIVE_BYTES)));
    onChange();
  });
  return {
    close: () => {
      watch.close();
      close(descriptor);
    },
  };
}

function isMore(result: number): boolean {
  return result > 0 || result === -ERRNO.EINTR || result === -ERRNO.ENOBUFS;
}
