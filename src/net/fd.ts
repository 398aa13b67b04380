/**
 * # FDs: what everything in `net/` and `proxy/` stands on
 *
 * A **provider** makes FDs and has the selector that watches them; it serves one event loop. `posix`
 * (Linux, system calls), `node` (Node's own sockets), `memory` (a simulated network), `kcp` (over datagrams of another). The
 * layers above never know which: there is no descriptor number here, and what only some can do is
 * asked for (`StreamFd.splice`, `Provider.pipes`).
 *
 * **Results are numbers.** Calls that a loop makes for every event return a count, or a negative errno
 * (`-ERRNO.EAGAIN`; `errnoName` names it). They throw only on wrong use.
 *
 * **Readiness is edge-triggered and remembered.** An FD has two flags, `readable` and `writable`. The
 * loop sets them from events and tells the handler once; reading and writing clear them when the FD
 * has no more. A handler that stops while a flag is set is not told again: it goes on by itself
 * later (`nextTick`, or when the other side can take more). Server FDs are level-triggered: told again as
 * long as connections wait.
 *
 *     onReady() {                                  // echo
 *       while (fd.readable && fd.writable) {
 *         const count = fd.read(scratch, 0, scratch.bytes.length);
 *         if (count === 0) return fd.shutdownWrite();       // FIN
 *         if (count < 0) return count === -ERRNO.EAGAIN ? undefined : fd.close();
 *         const sent = fd.write(scratch, 0, count);         // what is left over is the caller's
 *       }
 *     }
 *
 * **Opening takes time.** `connect`, `listen` and `bindDatagram` return an FD at once and never throw
 * for what the network says: `finishOpen()` is 0, or `-EINPROGRESS` (the loop reports writable when it is
 * decided; then ask again), or why not.
 *
 * **Errors** make an FD readable and writable; the next `read` or `write` returns them. A reset that comes
 * after the end of the stream is `FAILED`, or comes to light with the next `write`.
 */
import type { SocketAddress } from "../platform/socket-address.ts";
import type { Region } from "./region.ts";

/** What an event reports; both may be set. */
export const READABLE = 1;
export const WRITABLE = 2;
/** With READABLE: the peer has ended or failed, so a short read does not mean that all was read. */
export const HANGUP = 4;
/** With all of these: the connection is gone in both directions; `takeError` says why. */
export const FAILED = 8;
/** With READABLE: the peer's end is there in peace, so after a short read nothing follows. */
export const ENDING = 16;

export interface Fd {
  /** 0 when open, `-EINPROGRESS` while under way, else the negative errno that it failed with. */
  finishOpen(): number;
  /** Unnamed sockets give the wildcard address. Throws after `close`. */
  localAddress(): SocketAddress;
  readonly isClosed: boolean;
  /**
   * Frees it. Bytes that `write` took still go out. Twice is once. One that is in a loop is removed
   * from it right after (`loop.remove`).
   */
  close(): void;

  /** For the loop: watch it from now on; events carry the two numbers. 0 or a negative errno. */
  attach(slot: number, generation: number): number;
  /** For the loop: watch it no longer. */
  detach(): void;
  /** For the loop: sets the flags, before the handler is told. */
  noteReady(ready: number): void;
}

/** Marks an end that the pipes of its provider can be joined to. */
export interface SpliceEnd {
  readonly descriptor: number;
  /** For pipes: what a move from or to it found. */
  noteRead(result: number): void;
  noteWrite(result: number): void;
}

export interface StreamFd extends Fd {
  readonly readable: boolean;
  readonly writable: boolean;
  /** Into `region` from `start`: how many bytes; 0 at the end of the stream; or a negative errno. */
  read(region: Region, start: number, byteCount: number): number;
  /** Whether what was read last is all that came before the peer's end; known by some, at times. */
  readonly hasReadAll?: boolean;
  /**
   * From `region`: how many bytes were taken; or a negative errno.
   * @param endFollows `shutdownWrite` or `close` comes right after: they may leave together
   */
  write(region: Region, start: number, byteCount: number, endFollows?: boolean): number;
  /** The error that waits, as a negative errno; 0 where there is none. Asked once. */
  takeError(): number;
  /** No more will be written; the peer reads to the end (FIN). Reading goes on. */
  shutdownWrite(): number;
  /** Closes so that the peer's next read fails with ECONNRESET; what is unsent is dropped. */
  reset(): void;
  remoteAddress(): SocketAddress;
  /**
   * Where the peer called before the system redirected it here; undefined where that is not known.
   * Missing where the provider can not tell.
   */
  originalDestination?(): SocketAddress | undefined;
  /** Undefined where bytes can not move without passing through JavaScript. */
  readonly splice: SpliceEnd | undefined;
  /** Gives it up, for another loop of this process; undefined where the provider can not. */
  handOff(): HandOff | undefined;
}

export interface ServerFd extends Fd {
  /** The next connection that waits; undefined where there is none, or `acceptError` says why not. */
  accept(): StreamFd | undefined;
  /** Of the last `accept`: 0, or a negative errno such as `-EMFILE`. */
  readonly acceptError: number;
}

/** Where a datagram came from or goes to. Made once for each peer and kept: making one costs. */
export interface DatagramPeer {
  readonly address: SocketAddress;
  /** As `DatagramFd.senderKey` gives it. */
  readonly key: PeerKey;
  /** For the provider that made it. */
  readonly encoded: Region;
  /** The same for the address of this machine that it called, where there may be several: answers go out from it. */
  readonly called?: Region | undefined;
}

/** The same for the same address and port; for the keys of a map. */
export type PeerKey = number | string;

/**
 * Datagrams come and go in batches. What was received is in memory that all datagram FDs of a loop
 * share, until the next `receive` of any of them: so a datagram is forwarded without being copied.
 *
 *     const count = from.receive();
 *     for (let i = 0; i < count; i += 1) to.forward(i, sessions.get(from.senderKey(i)));
 *     to.flush();
 */
export interface DatagramFd extends Fd {
  readonly readable: boolean;
  /** Whether the last `flush` found room. No event tells when there is again: the next one tries. */
  readonly writable: boolean;
  /** Takes a batch: how many datagrams, 0 where none waits; or a negative errno. */
  receive(): number;
  /** The bytes of one of the batch; valid until the next `receive`. */
  datagram(index: number): Uint8Array;
  /** How many there are in it. */
  byteCount(index: number): number;
  senderKey(index: number): PeerKey;
  sender(index: number): DatagramPeer;
  peer(address: SocketAddress): DatagramPeer;
  /** Queues a copy for `flush`, for the connected peer where none is given. False: full, flush first. */
  queue(bytes: Uint8Array, to?: DatagramPeer): boolean;
  /** Queues one of the last batch that any FD of this loop received. False: full, flush first. */
  forward(index: number, to?: DatagramPeer): boolean;
  /** As `forward`, but a copy: it may be sent after the next `receive`, together with others. */
  keep(index: number, to?: DatagramPeer): boolean;
  /**
   * Sends what is queued: how many datagrams went out. The rest is dropped, as UDP may. A negative
   * errno where none did.
   */
  flush(): number;
  /** Of a borrowed one: the same socket as the caller's own, which stays when its owner closes it. */
  share?(): DatagramFd;
}

/** Something open that moves between the loops of one process. It can be sent in a message. */
export interface HandOff {
  readonly descriptor: number;
}

export interface ListenOptions {
  /** How many connections may wait to be accepted. */
  readonly backlog: number;
}

export interface StreamOptions {
  /** Bind to it before connecting. */
  readonly from?: SocketAddress;
}

export interface DatagramOptions {
  /** Only datagrams of this peer are seen, and it is where they go by default. */
  readonly connectTo?: SocketAddress;
  /** Other sockets of this program share the address. */
  readonly shared?: boolean;
  /** How much the system keeps in each direction; bursts that do not fit are lost. */
  readonly bufferBytes?: number;
}

/** A buffer in the kernel. Borrowed while bytes are in it; see `PipePool`. */
export interface Pipe {
  readonly bufferedBytes: number;
  /** Moves bytes in; a result as that of `read`. */
  fill(from: SpliceEnd, maxBytes: number): number;
  /** Moves bytes out; a result as that of `write`. */
  drain(to: SpliceEnd): number;
}

export interface PipePool {
  /** Undefined where no descriptors are left or the kernel gives small ones only: read and write then. */
  borrow(): Pipe | undefined;
  /** One that still holds bytes is thrown away. */
  giveBack(pipe: Pipe): void;
  close(): void;
}

/** Watches the FDs of one loop. */
export interface Selector {
  /** Whether `wait` blocks the thread. Otherwise the host drives: see `onPending`. */
  readonly blocks: boolean;
  /** How many events there are. -1 waits without end; one that does not block takes what there is. */
  wait(timeoutMs: number): number;
  slotAt(index: number): number;
  generationAt(index: number): number;
  readyAt(index: number): number;
  /** Not blocking: calls back when `wait` would find something. */
  onPending(callback: () => void): void;
}

/** Time for one loop, in milliseconds that never go back. */
export interface Clock {
  nowMs(): number;
  /** Not blocking loops only: calls back at that time, unless cancelled. */
  callAt(atMs: number, callback: () => void): { cancel(): void };
}

export interface Provider {
  readonly name: string;
  readonly selector: Selector;
  readonly clock: Clock;
  /** Undefined where there is no splice. */
  readonly pipes: PipePool | undefined;
  allocate(byteCount: number): Region;
  connect(to: SocketAddress, options?: StreamOptions): StreamFd;
  listen(on: SocketAddress, options: ListenOptions): ServerFd;
  bindDatagram(on: SocketAddress, options?: DatagramOptions): DatagramFd;
  /** The streams that come by KCP to a socket for datagrams. Missing where there is no secret for that. */
  serveTunnels?(fd: DatagramFd, options: ListenOptions): ServerFd;
  /** How many tunnels have said something that has not arrived yet; unlike TCP's, it is lost with the process. */
  readonly busyTunnels?: number;
  /** Takes what another loop gave up. Undefined where the provider can not. */
  readonly adopt: Adopter | undefined;
  close(): void;
}

export interface Adopter {
  stream(handOff: HandOff): StreamFd;
  /** Borrowed: its owner is another thread, which closes it. Several loops may borrow one. */
  server(handOff: HandOff): ServerFd;
  /** Borrowed, too; by one loop at a time. */
  datagram(handOff: HandOff): DatagramFd;
  /** Borrowed, of any kind: told again as long as something can be read, by whatever means. */
  readable(handOff: HandOff): Fd;
}
