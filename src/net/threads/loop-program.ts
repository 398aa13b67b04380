/**
 * # Programs of loops
 *
 * A loop's thread runs a program; the proxy is one. Its module, which `LoopThread.start` is given, calls
 * `runLoopProgram` and nothing else. The program gets a `NetEventLoop` and whatever the main thread sends;
 * listening sockets are lent to it by the main thread, which keeps owning them. Nothing in it may wait
 * for a promise, a Node timer or a Node stream: the thread is blocked in its loop.
 *
 *     runLoopProgram(({ net }) => ({
 *       listener: () => ({ onConnection: (fd) => new Echo(net, fd) }),
 *       onMessage: () => undefined,
 *       drain: () => undefined,
 *       get openCount() { return echoes.size; },
 *       close: () => undefined,
 *     }));
 */
import type { Transferable } from "node:worker_threads";
import type { Log } from "../../core/log.ts";
import type { AcceptHandler } from "../acceptor.ts";
import type { DatagramFd, StreamFd } from "../fd.ts";
import type { NetEventLoop } from "../net-event-loop.ts";

export interface LoopProgram {
  /** Who takes the connections of a listener; asked once for each socket that is lent. */
  listener(listener: string): AcceptHandler;
  /**
   * A socket for datagrams is lent to a listener. The program closes the FD when it is told to.
   * Without it, none are taken.
   */
  datagrams?(listener: string, fd: DatagramFd): { close(): void };
  /** What the main thread sent with `LoopThread.send`. */
  onMessage(body: unknown): void;
  /** What another loop sent. */
  onPeerMessage?(loop: string, body: unknown): void;
  /** A connection that another loop handed over with `handTo`, and what it said about it. */
  onHandedOver?(fd: StreamFd, body: unknown): void;
  /** The loop shall end: finish what is open. Listening sockets are gone already. */
  drain(): void;
  /** How much is open still; at 0 it is drained. */
  readonly openCount: number;
  /** The loop ends now; FDs are told `onRemoved` after that. */
  close(): void;
}

export interface LoopContext {
  /** The loop's name. */
  readonly name: string;
  readonly net: NetEventLoop;
  /** Goes to the main thread's log. */
  readonly log: Log;
  /** What the main thread gave at the start. */
  readonly data: unknown;
  /** Sends to the main thread: `LoopThread.onReport`. */
  report(body: unknown): void;
  /** Sends to another loop; false where it is not known (any more). */
  sendToPeer(loop: string, body: unknown, transfer?: readonly Transferable[]): boolean;
  /**
   * Gives a connection that is in no loop to another one. False where that is not possible: then
   * nothing has happened.
   */
  handTo(loop: string, fd: StreamFd, body: unknown): boolean;
}

export type CreateLoopProgram = (context: LoopContext) => LoopProgram;
