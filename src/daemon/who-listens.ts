import process from "node:process";
import { CoreError } from "../core/errors.ts";
import { canonicalIp } from "../core/model/address.ts";
import { formatListenAddress, type ListenAddress } from "../core/options/listen-address.ts";
import { ipAddress } from "../platform/socket-address.ts";

/**
 * Says who has an address that is taken, and how to choose another.
 * @param what in words: `the HTTP API`
 * @param remedy what to do about it
 */
export async function explainTaken(
  error: unknown,
  address: ListenAddress,
  { what, remedy }: { readonly what: string; readonly remedy: string },
): Promise<unknown> {
  if (!isTaken(error)) return error;
  const holder = await holderOf(address);
  return new CoreError(
    "ERR_LISTEN",
    `${formatListenAddress(address)} for ${what} is taken${holder}; ${remedy}`,
    { cause: error },
  );
}

/** Also where it is what another error came from. */
function isTaken(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ("code" in error && error.code === "EADDRINUSE") || isTaken(error.cause);
}

/** Empty where it can not be told: without root only one's own processes show. */
async function holderOf(address: ListenAddress): Promise<string> {
  const ip = address.kind === "tcp" ? canonicalIp(address.host) : undefined;
  if (address.kind !== "tcp" || ip === undefined || process.platform !== "linux") return "";
  const { findSocketHolder } = await import("../platform/linux/socket-holder.ts");
  const holder = findSocketHolder(ipAddress(ip, address.port), "TCP");
  return holder === undefined ? "" : ` by ${holder.program} (pid ${holder.pid})`;
}
