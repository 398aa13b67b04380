import { chmodSync } from "node:fs";
import type { Log } from "../../core/log.ts";
import {
  AF_UNIX,
  SCM_MAX_FD,
  SOCK_CLOEXEC,
  SOCK_NONBLOCK,
  SOCK_SEQPACKET,
} from "../../platform/linux/abi.ts";
import { watchReadable } from "../../platform/linux/binding.ts";
import { receiveDescriptors, sendDescriptors } from "../../platform/linux/descriptor-passing.ts";
import { close } from "../../platform/linux/io-calls.ts";
import { accept4, listen, socket } from "../../platform/linux/socket-calls.ts";
import { bindTo } from "../../platform/linux/socket-names.ts";
import { setTimeouts } from "../../platform/linux/socket-options.ts";
import { checked } from "../../platform/linux/system-error.ts";
import { unixAddress } from "../../platform/socket-address.ts";
import { listenError } from "../listeners/listen-error.ts";
import { removeSocketFile, removeStale } from "../listeners/listening-socket.ts";
import { ASK, decodeText, encodeOffer, splitOffers, TAKEN } from "./take-over-messages.ts";

const BACKLOG = 4;
const OWNER_ONLY = 0o600;
const MAX_WORDS_BYTES = 64;
/** The other process only starts what it took; a message is small and the socket local. */
const SEND_TIMEOUT_MS = 1000;

/** A listener whose sockets another process may take. */
export interface TakeableListener {
  readonly id: string;
  descriptors(): readonly number[];
}

/**
 * Offers the listening sockets of this process on a unix socket, to the process that replaces it. Who
 * may connect there may have the sockets: only the same user may.
 */
export class SocketOffer {
  readonly #path: string;
  readonly #descriptor: number;
  readonly #watch: { close(): void };
  readonly #log: Log;
  readonly #listeners: () => readonly TakeableListener[];
  readonly #onTaken: () => void;
  readonly #onAbandoned: () => void;
  /** Those that were given the sockets, and have not said yet that they serve them. */
  readonly #asked = new Set<number>();
  readonly #callers = new Map<number, { close(): void }>();

  constructor(
    path: string,
    options: {
      readonly log: Log;
      readonly listeners: () => readonly TakeableListener[];
      /** The other process serves the sockets: release them and drain. */
      readonly onTaken: () => void;
      /** The other process was given the sockets, and is gone without having served them. */
      readonly onAbandoned?: () => void;
      /** The path is that of the process whose sockets were taken: put this one in its place. */
      readonly replaces?: boolean;
    },
  ) {
    this.#path = path;
    this.#log = options.log;
    this.#listeners = options.listeners;
    this.#onTaken = options.onTaken;
    this.#onAbandoned = options.onAbandoned ?? (() => undefined);
    this.#descriptor = openOffer(path, options.replaces ?? false);
    this.#watch = watchReadable(this.#descriptor, () => this.#accept());
  }

  /** The file stays where it was taken over: it is the other process's then. */
  close(options: { readonly keepFile: boolean } = { keepFile: false }): void {
    this.#watch.close();
    close(this.#descriptor);
    for (const caller of [...this.#callers.keys()]) this.#drop(caller);
    if (!options.keepFile) removeSocketFile(unixAddress(this.#path));
  }

  #accept(): void {
    // Blocking, with a time-out: what is said fits in the buffers of the socket.
    const caller = accept4(this.#descriptor, 0, 0, SOCK_CLOEXEC);
    if (caller < 0) return;
    setTimeouts(caller, SEND_TIMEOUT_MS);
    this.#callers.set(
      caller,
      watchReadable(caller, () => this.#heard(caller)),
    );
  }

  #heard(caller: number): void {
    try {
      const words = decodeText(receiveDescriptors(caller, MAX_WORDS_BYTES).bytes);
      if (words === ASK) this.#give(caller);
      else if (words === TAKEN) this.#taken(caller);
      else this.#drop(caller);
    } catch (error) {
      this.#log.warn({ err: error }, "a take-over failed; this process goes on");
      this.#drop(caller);
    }
  }

  #give(caller: number): void {
    const listeners = this.#listeners().map((listener) => ({
      id: listener.id,
      descriptors: listener.descriptors(),
    }));
    const all = listeners.flatMap(({ descriptors }) => descriptors);
    const counts = listeners.map(({ id, descriptors }) => ({ id, sockets: descriptors.length }));
    let next = 0;
    this.#asked.add(caller);
    for (const offer of splitOffers(counts, SCM_MAX_FD)) {
      const count = offer.listeners.reduce((sum, { sockets }) => sum + sockets, 0);
      sendDescriptors(caller, encodeOffer(offer), all.slice(next, next + count));
      next += count;
    }
    this.#log.info({ listeners: counts.length }, "another process is taking over");
  }

  #taken(caller: number): void {
    this.#asked.delete(caller);
    this.#drop(caller);
    this.#log.info({}, "another process has taken over");
    this.#onTaken();
  }

  #drop(caller: number): void {
    const watch = this.#callers.get(caller);
    // Dropped before: the number may be of somebody else.
    if (watch === undefined) return;
    watch.close();
    this.#callers.delete(caller);
    close(caller);
    if (this.#asked.delete(caller)) this.#onAbandoned();
  }
}

/** Packets, not a stream: a message and its descriptors arrive as they were sent. */
function openOffer(path: string, replaces: boolean): number {
  const address = unixAddress(path);
  if (replaces) removeSocketFile(address);
  else removeStale(address);
  const descriptor = checked(
    "socket",
    socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0),
  );
  const bound = bindTo(descriptor, address);
  if (bound === 0) chmodSync(path, OWNER_ONLY);
  const result = bound < 0 ? bound : listen(descriptor, BACKLOG);
  if (result === 0) return descriptor;
  close(descriptor);
  throw listenError(address, result);
}
