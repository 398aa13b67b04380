import { CoreError } from "../../core/errors.ts";
import { ERRNO, errnoName } from "../../platform/errno.ts";
import { AF_UNIX, SOCK_CLOEXEC, SOCK_SEQPACKET } from "../../platform/linux/abi.ts";
import { receiveDescriptors, sendDescriptors } from "../../platform/linux/descriptor-passing.ts";
import { close } from "../../platform/linux/io-calls.ts";
import { socket } from "../../platform/linux/socket-calls.ts";
import { connectTo } from "../../platform/linux/socket-names.ts";
import { setTimeouts } from "../../platform/linux/socket-options.ts";
import { checked } from "../../platform/linux/system-error.ts";
import { unixAddress } from "../../platform/socket-address.ts";
import { ASK, decodeOffer, encodeText, TAKEN } from "./take-over-messages.ts";

const TIMEOUT_MS = 5000;
const MAX_OFFER_BYTES = 1_048_576;

/** The listening sockets of the process that ran before. */
export interface TakenSockets {
  /** The descriptors of each listener; they are the caller's now, whatever follows. */
  readonly listeners: ReadonlyMap<string, readonly number[]>;
  /** Tells the other process that they are served: it releases its own and drains. */
  confirm(): void;
  /** Gives up: the other process goes on as if nothing had happened. */
  abandon(): void;
}

/** Asks the running process for its listening sockets; blocks for a moment, at the start of a process. */
export function takeOver(path: string): TakenSockets {
  const connection = dial(path);
  const listeners = new Map<string, readonly number[]>();
  try {
    sendDescriptors(connection, encodeText(ASK), []);
    while (!receiveOffer(connection, listeners));
  } catch (error) {
    for (const descriptor of [...listeners.values()].flat()) close(descriptor);
    close(connection);
    throw error;
  }
  return {
    listeners,
    confirm: () => {
      sendDescriptors(connection, encodeText(TAKEN), []);
      close(connection);
    },
    abandon: () => void close(connection),
  };
}

/** Whether it was the last one. */
function receiveOffer(connection: number, listeners: Map<string, readonly number[]>): boolean {
  const { bytes, descriptors } = receiveDescriptors(connection, MAX_OFFER_BYTES);
  const offer = decodeOffer(bytes);
  let next = 0;
  for (const { id, sockets } of offer.listeners) {
    const known = listeners.get(id) ?? [];
    listeners.set(id, [...known, ...descriptors.slice(next, next + sockets)]);
    next += sockets;
  }
  return offer.isLast;
}

function dial(path: string): number {
  const descriptor = checked("socket", socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  setTimeouts(descriptor, TIMEOUT_MS);
  const result = connectTo(descriptor, unixAddress(path));
  if (result === 0) return descriptor;
  close(descriptor);
  const isNobody = result === -ERRNO.ENOENT || result === -ERRNO.ECONNREFUSED;
  throw new CoreError(
    isNobody ? "ERR_NOT_FOUND" : "ERR_SYSTEM_CALL",
    `take-over: no instance answers at ${path} (${errnoName(result)}); ` +
      "start without --take-over, or name the state folder of the one that runs",
  );
}
