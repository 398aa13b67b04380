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
import { KERNEL_PLANES, type KernelPlane } from "./kernel-planes.ts";
import { allocateNative } from "./native-memory.ts";
import { getsockopt, listen, socket } from "./socket-calls.ts";
import { bindTo, connectTo } from "./socket-names.ts";
import { checked } from "./system-error.ts";

export interface InstanceLock {
  /** Lets the next one in. May be called more than once; the end of the process does it too. */
  release(): void;
}

/** What all of them hold, beside the lock of their own name. */
const SHARED_NAME = "kernel data plane";

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
  const lock = tryLock(name);
  if (lock !== undefined) return lock;
  throw new CoreError(
    "ERR_NOT_POSSIBLE_HERE",
    `the backend "${name}" is run in this network namespace already, by ${holderOf(name)}; stop that one first`,
  );
}

/**
 * The same for a data plane of the kernel: there is one of all of them in a network namespace.
 * @throws CoreError ERR_NOT_POSSIBLE_HERE with the name and the pid of the one that runs
 */
export function takeKernelLock(name: KernelPlane): InstanceLock {
  const own = takeInstanceLock(name);
  const shared = tryLock(SHARED_NAME);
  if (shared !== undefined) {
    return {
      release: () => {
        shared.release();
        own.release();
      },
    };
  }
  // The lock of this name is held by us: the holder of what is shared has another one.
  const others = KERNEL_PLANES.filter((plane) => plane !== name);
  const [other = others.join('" or "')] = others.filter(isHeld);
  const holder = holderOf(SHARED_NAME);
  own.release();
  throw new CoreError(
    "ERR_NOT_POSSIBLE_HERE",
    `the backend "${other}" is run in this network namespace already, by ${holder}, and serves what "${name}" would serve; stop that one first, and remove what it leaves when this one runs: portolan cleanup --to ${other}`,
  );
}

/** Whether an instance of a data plane of the kernel is at work in this network namespace. */
export function isPlaneRunning(name: KernelPlane): boolean {
  return isHeld(name);
}

/** Undefined where somebody holds it. */
function tryLock(name: string): InstanceLock | undefined {
  const address = addressOf(name);
  const fd = openSocket();
  const bound = bindTo(fd, address);
  if (bound < 0) {
    close(fd);
    if (bound === -ERRNO.EADDRINUSE) return undefined;
    checked("bind", bound, address.path);
  }
  checked("listen", listen(fd, BACKLOG), address.path);
  let isOurs = true;
  return {
    release: () => {
      if (isOurs) close(fd);
      isOurs = false;
    },
  };
}

function addressOf(name: string): ReturnType<typeof unixAddress> {
  return unixAddress(`@portolan/${name}`);
}

function openSocket(): number {
  return checked("socket", socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

function isHeld(name: string): boolean {
  const fd = openSocket();
  try {
    return connectTo(fd, addressOf(name)) >= 0;
  } finally {
    close(fd);
  }
}

/** unix(7): a connected socket tells the process that listens, as this process would call it. */
function holderOf(name: string): string {
  const fd = openSocket();
  try {
    if (connectTo(fd, addressOf(name)) < 0) return "a process that does not tell its pid";
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
