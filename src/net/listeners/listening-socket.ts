import { unlinkSync } from "node:fs";
import { CoreError } from "../../core/errors.ts";
import { ERRNO, errnoName } from "../../platform/errno.ts";
import { close } from "../../platform/linux/io-calls.ts";
import { formatSocketAddress, type SocketAddress } from "../../platform/socket-address.ts";
import { openConnecting, openListening, probeBind } from "../posix/open-socket.ts";

const HINTS: ReadonlyMap<number, string> = new Map([
  [-ERRNO.EADDRINUSE, "another program listens there: stop it, or choose another address"],
  [-ERRNO.EADDRNOTAVAIL, "this machine has no such address"],
  [
    -ERRNO.EACCES,
    "not allowed: choose a port of 1024 or more, or give the capability NET_BIND_SERVICE",
  ],
  [-ERRNO.EPERM, "not allowed: check the permissions of the folder and of the process"],
  [-ERRNO.ENOENT, "the folder does not exist: make it"],
  [-ERRNO.EMFILE, "no descriptors are left: raise the limit of open files (ulimit -n)"],
]);

/**
 * Opens the first listening socket of an address. Further ones of this program share it, so the
 * kernel alone would not tell that a stranger has it too: that is tried before.
 */
export function openFirstListening(on: SocketAddress, backlog: number): number {
  if (on.family === "unix") removeStale(on);
  const taken = probeBind(on);
  if (taken < 0) throw listenError(on, taken);
  return openFurtherListening(on, backlog);
}

/** One more socket on an address that this program has. */
export function openFurtherListening(on: SocketAddress, backlog: number): number {
  const { descriptor, result } = openListening(on, { backlog, shared: true });
  if (result < 0) throw listenError(on, result);
  return descriptor;
}

export function listenError(on: SocketAddress, result: number): CoreError {
  const hint = HINTS.get(result);
  const why = hint === undefined ? "" : `; ${hint}`;
  return new CoreError(
    "ERR_LISTEN",
    `can not listen on ${formatSocketAddress(on)}: ${errnoName(result)}${why}`,
  );
}

/** The file of a unix socket outlives its program: where nobody answers, it is in the way. */
export function removeStale(on: SocketAddress): void {
  if (on.family !== "unix" || on.path.startsWith("@")) return;
  const { descriptor, result } = openConnecting(on);
  if (descriptor >= 0) close(descriptor);
  if (result === -ERRNO.ECONNREFUSED) removeSocketFile(on);
}

export function removeSocketFile(on: SocketAddress): void {
  if (on.family !== "unix" || on.path.startsWith("@")) return;
  try {
    unlinkSync(on.path);
  } catch {
    // Somebody else was quicker, or may not be asked: binding will tell.
  }
}
