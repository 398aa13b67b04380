import { CoreError } from "../../core/errors.ts";
import { ERRNO } from "../errno.ts";
import { unixAddress } from "../socket-address.ts";
import {
  AF_UNIX,
  SO_PEERCRED,
  SOCK_CLOEXEC,
  SOCK_NONBLOCK,
  SOCK_STREAM,
  SOL_SOCKET,
  UCRED_BYTES,
} from "./abi.ts";
import { close } from "./io-calls.ts";
import { allocateNative } from "./native-memory.ts";
import { getsockopt, listen, socket } from "./socket-calls.ts";
import { bindTo, connectTo } from "./socket-names.ts";
import { checked } from "./system-error.ts";

export interface InstanceLock {
  /** Lets the next one in. May be called more than once; the end of the process does it too. */
  release(): void;
}

/** Who is refused is left in the queue of the socket, so it has to be long. */
const BACKLOG = 4096;
const LENGTH = 16;

/**
 * One instance of a backend in a network namespace, held as an abstract unix socket: the kernel keeps
 * those names apart by network namespace, and frees them however the process ends.
 * @param name of the backend
 * @throws CoreError ERR_NOT_POSSIBLE_HERE with the pid of the one that holds it
 */
export function takeInstanceLock(name: string): InstanceLock {
  const address = unixAddress(`@portolan/${name}`);
  const fd = openSocket();
  const bound = bindTo(fd, address);
  if (bound < 0) {
    close(fd);
    if (bound !== -ERRNO.EADDRINUSE) checked("bind", bound, address.path);
    throw new CoreError(
      "ERR_NOT_POSSIBLE_HERE",
      `the backend "${name}" is run in this network namespace already, by ${holderOf(address.path)}; stop that one first`,
    );
  }
  checked("listen", listen(fd, BACKLOG), address.path);
  let isHeld = true;
  return {
    release: () => {
      if (isHeld) close(fd);
      isHeld = false;
    },
  };
}

function openSocket(): number {
  return checked("socket", socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

/** unix(7): a connected socket tells the process that listens, as this process would call it. */
function holderOf(path: string): string {
  const fd = openSocket();
  try {
    if (connectTo(fd, unixAddress(path)) < 0) return "a process that does not tell its pid";
    const pid = peerPidOf(fd);
    return pid === 0 ? "a process of another pid namespace" : `pid ${pid}`;
  } finally {
    close(fd);
  }
}

function peerPidOf(fd: number): number {
  const memory = allocateNative(LENGTH * 2);
  memory.view.setInt32(LENGTH, UCRED_BYTES, true);
  checked(
    "getsockopt",
    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, memory.address, memory.address + LENGTH),
  );
  return memory.view.getInt32(0, true);
}
