import { CoreError } from "../../core/errors.ts";
import { ERRNO, errnoName } from "../../platform/errno.ts";
import { formatSocketAddress, type SocketAddress } from "../../platform/socket-address.ts";

export interface ListenErrorOptions {
  /** TCP where not said. */
  readonly protocol?: "TCP" | "UDP";
  /** Who has the address, where that is known. */
  readonly holder?: { readonly pid: number; readonly program: string } | undefined;
}

const REMEDIES: ReadonlyMap<number, string> = new Map([
  [-ERRNO.EADDRNOTAVAIL, "this machine has no such address"],
  [
    -ERRNO.EACCES,
    "not allowed: choose a port of 1024 or more, or give the capability NET_BIND_SERVICE",
  ],
  [-ERRNO.EPERM, "not allowed: check the permissions of the folder and of the process"],
  [-ERRNO.ENOENT, "the folder does not exist: make it"],
  [-ERRNO.EMFILE, "no descriptors are left: raise the limit of open files (ulimit -n)"],
]);

/** Why an address can not be had, in one line, with the remedy. */
export function listenError(
  on: SocketAddress,
  result: number,
  { protocol = "TCP", holder }: ListenErrorOptions = {},
): CoreError {
  const where = `${formatSocketAddress(on)}${protocol === "UDP" ? " (UDP)" : ""}`;
  const remedy = result === -ERRNO.EADDRINUSE ? remedyForTaken(holder) : REMEDIES.get(result);
  const why = remedy === undefined ? "" : `; ${remedy}`;
  return new CoreError("ERR_LISTEN", `can not listen on ${where}: ${errnoName(result)}${why}`);
}

function remedyForTaken(holder: ListenErrorOptions["holder"]): string {
  const who = holder === undefined ? "another program" : `${holder.program} (pid ${holder.pid})`;
  return `${who} listens there: stop it, or choose another address`;
}
