import { unlinkSync } from "node:fs";
import { ERRNO } from "../../platform/errno.ts";
import { close } from "../../platform/linux/io-calls.ts";
import { findSocketHolder } from "../../platform/linux/socket-holder.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import { openConnecting, openDatagram, openListening, probeBind } from "../posix/open-socket.ts";
import { listenError } from "./listen-error.ts";
import type { Transport } from "./socket-lending.ts";

/** Bursts of many clients at once; the system may give less (net.core.rmem_max). */
const DATAGRAM_BUFFER_BYTES = 4_194_304;

export interface ListeningSocketOptions {
  readonly transport: Transport;
  readonly backlog: number;
}

/**
 * Opens the first listening socket of an address. Further ones of this program share it, so the
 * kernel alone would not tell that a stranger has it too: that is tried before.
 */
export function openFirstListening(on: SocketAddress, options: ListeningSocketOptions): number {
  if (on.family === "unix") removeStale(on);
  const taken = options.transport === "stream" ? probeBind(on) : probeDatagrams(on);
  if (taken < 0) {
    const protocol = protocolOf(options);
    throw listenError(on, taken, { protocol, holder: findSocketHolder(on, protocol) });
  }
  return openFurtherListening(on, options);
}

/** One more socket on an address that this program has. */
export function openFurtherListening(on: SocketAddress, options: ListeningSocketOptions): number {
  const { transport, backlog } = options;
  const { descriptor, result } =
    transport === "stream"
      ? openListening(on, { backlog, shared: true })
      : openDatagram(on, { shared: true, bufferBytes: DATAGRAM_BUFFER_BYTES });
  if (result < 0) throw listenError(on, result, { protocol: protocolOf(options) });
  return descriptor;
}

function protocolOf({ transport }: ListeningSocketOptions): "TCP" | "UDP" {
  return transport === "stream" ? "TCP" : "UDP";
}

function probeDatagrams(on: SocketAddress): number {
  if (on.family === "unix") return -ERRNO.EAFNOSUPPORT;
  const { descriptor, result } = openDatagram(on);
  if (descriptor >= 0) close(descriptor);
  return result;
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
