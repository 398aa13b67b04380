import { CoreError } from "../core/errors.ts";
import { errnoName } from "../platform/errno.ts";
import type { SocketAddress } from "../platform/socket-address.ts";
import type { Fd, Provider } from "./fd.ts";
import { LoopCounters } from "./loop-counters.ts";
import { SlotTable } from "./slot-table.ts";
import { Timer, TimerQueue } from "./timer-queue.ts";

/** Is told what happens to an FD that it put into a loop. */
export interface ReadyHandler {
  /** `READABLE`, `WRITABLE` or both, and perhaps `HANGUP`; the FD's flags say the same. */
  onReady(ready: number): void;
  /** The loop ends. The FD is in it no longer; the handler closes it, as its owner. */
  onRemoved(): void;
  /** What it is, for statistics and management; without it the FD is not listed. */
  describe?(): ChannelDescription;
  /** Somebody wants this one closed: the handler closes what it belongs to. */
  dismiss?(): void;
}

/** What a channel is a part of, as far as that is known. */
export interface ChannelRole {
  /** Key of the listener that it belongs to. */
  readonly listener?: string;
  /** Key of the server at its other end. */
  readonly server?: string;
  /** On just one of the channels of a session. */
  readonly session?: SessionRole;
}

/** The two ends of a channel. */
export interface ChannelEnds {
  readonly local: SocketAddress;
  readonly remote: SocketAddress;
}

/** A client and the server that it was led to. */
export interface SessionRole {
  /** Key of the server; missing where there is none (yet). */
  readonly server?: string;
  /** The client's side; missing where the channel itself is that. */
  readonly client?: ChannelEnds;
  /** The server's side, where the channel is the client's; missing where there is none (yet). */
  readonly toServer?: ChannelEnds;
}

export interface ChannelDescription extends ChannelRole {
  readonly kind: "listener" | "connection" | "datagram";
  readonly local: SocketAddress;
  readonly remote?: SocketAddress;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Of a listener: how many connections came by it. */
  readonly accepted?: number;
}

/** A channel of a loop, as it was when asked. */
export interface ChannelEntry extends ChannelDescription {
  readonly id: ChannelId;
}

/** Some of the channels of a loop. */
export interface ChannelPage {
  readonly entries: readonly ChannelEntry[];
  /** Where to go on; undefined where there are no more. */
  readonly next: number | undefined;
}

/** Names an FD in a loop, as messages do; it never means another one later. */
export interface ChannelId {
  readonly slot: number;
  readonly generation: number;
}

class Channel implements ChannelId {
  readonly fd: Fd;
  readonly handler: ReadyHandler;
  slot = -1;
  generation = 0;

  constructor(fd: Fd, handler: ReadyHandler) {
    this.fd = fd;
    this.handler = handler;
  }
}

/** Does something once, later; `cancel` on what has happened does nothing. */
export interface Cancellable {
  cancel(): void;
}

/**
 * Runs callbacks for readiness and timers, one at a time, on one thread. A round: events, per FD one
 * call of its handler; then due timers; then the tasks queued so far. What a callback throws is
 * reported, and the loop goes on.
 *
 * Where the provider's selector blocks, `run` is the thread's whole life; nothing on it may wait for a
 * promise, a Node timer or a Node stream. Otherwise `start` lets the host drive.
 */
export class SelectorEventLoop {
  readonly provider: Provider;
  readonly counters: LoopCounters;
  readonly #onError: (error: unknown) => void;
  readonly #channels = new SlotTable<Channel>();
  readonly #timers = new TimerQueue();
  #tasks: (() => void)[] = [];
  #spareTasks: (() => void)[] = [];
  #nowMs: number;
  #state: "new" | "running" | "closing" | "closed" = "new";
  #inRound = false;
  /** Host-driven: events came that no round has taken yet, perhaps during one. */
  #hasPending = false;
  #hostTimer: Cancellable | undefined;
  #hostTimerAtMs = Number.POSITIVE_INFINITY;

  constructor(options: {
    readonly provider: Provider;
    /** Gets what callbacks throw. It must not throw itself. */
    readonly onError: (error: unknown) => void;
    /** Where it counts what it does; in shared memory others can read them. */
    readonly counters?: LoopCounters;
  }) {
    this.provider = options.provider;
    this.counters = options.counters ?? new LoopCounters();
    this.#onError = options.onError;
    this.#nowMs = options.provider.clock.nowMs();
  }

  /** The time of this round: cheap, and the same for all that happens in it. */
  get nowMs(): number {
    return this.#inRound ? this.#nowMs : this.provider.clock.nowMs();
  }

  get isClosed(): boolean {
    return this.#state === "closing" || this.#state === "closed";
  }

  /** How many FDs are in it. */
  get size(): number {
    return this.#channels.size;
  }

  /** Watches an FD. Throws where the loop has ended, or the system refuses. */
  add(fd: Fd, handler: ReadyHandler): ChannelId {
    if (this.isClosed)
      throw new CoreError("ERR_LOOP_ENDED", "an FD was added to a loop that ended");
    const channel = new Channel(fd, handler);
    channel.slot = this.#channels.add(channel);
    channel.generation = this.#channels.generationOf(channel.slot);
    const result = fd.attach(channel.slot, channel.generation);
    if (result < 0) {
      this.#channels.remove(channel.slot, channel.generation);
      throw new CoreError("ERR_SYSTEM_CALL", `an FD could not be watched: ${errnoName(result)}`);
    }
    return channel;
  }

  /**
   * Watches it no longer; its handler is not told. Twice is once. One that shall be closed is closed
   * first and then removed, in one callback: that spares a system call.
   */
  remove(id: ChannelId): void {
    const channel = this.#channels.get(id.slot, id.generation);
    if (channel === undefined) return;
    this.#channels.remove(id.slot, id.generation);
    if (!channel.fd.isClosed) channel.fd.detach();
  }

  /** All that can be listed. */
  channels(): readonly ChannelEntry[] {
    return this.channelPage(0, Number.POSITIVE_INFINITY).entries;
  }

  /** The same in parts: each takes a system call or two a channel, and nothing else is done meanwhile. */
  channelPage(from: number, slots: number): ChannelPage {
    const entries: ChannelEntry[] = [];
    const end = Math.min(from + slots, this.#channels.capacity);
    for (let slot = from; slot < end; slot += 1) {
      const channel = this.#channels.at(slot);
      const entry = channel && describeChannel(channel);
      if (entry !== undefined) entries.push(entry);
    }
    return { entries, next: end < this.#channels.capacity ? end : undefined };
  }

  /** Has the handler close it; false where there is no such channel any more. */
  dismiss(id: ChannelId): boolean {
    const channel = this.#channels.get(id.slot, id.generation);
    if (channel?.handler.dismiss === undefined) return false;
    channel.handler.dismiss();
    return true;
  }

  has(id: ChannelId): boolean {
    return this.#channels.get(id.slot, id.generation) !== undefined;
  }

  /** Runs a task after the callbacks of this round; what a task queues, in the next one. */
  nextTick(task: () => void): void {
    this.#tasks.push(task);
    if (!this.#inRound) this.#reschedule();
  }

  /** Runs a task now where a callback of this loop is running, else in the next round. */
  runOnLoop(task: () => void): void {
    if (this.#inRound) task();
    else this.nextTick(task);
  }

  delay(delayMs: number, task: () => void): Cancellable {
    const timer = new Timer(task);
    this.arm(timer, delayMs);
    return { cancel: () => this.disarm(timer) };
  }

  /** Again and again; the next time counts from when it was run. */
  period(periodMs: number, task: () => void): Cancellable {
    const timer = new Timer(() => {
      this.arm(timer, periodMs);
      task();
    });
    this.arm(timer, periodMs);
    return { cancel: () => this.disarm(timer) };
  }

  /** Arms a timer that the caller keeps, anew where it was armed already. */
  arm(timer: Timer, delayMs: number): void {
    this.#timers.arm(timer, this.nowMs + delayMs);
    if (!this.#inRound) this.#reschedule();
  }

  disarm(timer: Timer): void {
    this.#timers.cancel(timer);
  }

  /** Blocks this thread until the loop is closed. */
  run(): void {
    this.#begin();
    while (this.#state === "running") this.#round(this.#timeoutMs());
    this.#finish();
  }

  /** Lets the host drive the loop, from now on. */
  start(): void {
    this.#begin();
    this.provider.selector.onPending(() => {
      this.#hasPending = true;
      this.#schedule(this.provider.clock.nowMs());
    });
    this.#schedule(this.provider.clock.nowMs());
  }

  /** Ends the loop after the callback that is running; handlers are told `onRemoved`. */
  close(): void {
    if (this.isClosed) return;
    const wasRunning = this.#state === "running";
    this.#state = "closing";
    if (!wasRunning || (!this.provider.selector.blocks && !this.#inRound)) this.#finish();
  }

  #begin(): void {
    if (this.#state !== "new") {
      throw new CoreError("ERR_LOOP_ENDED", `a loop runs once; this one is ${this.#state}`);
    }
    this.#state = "running";
  }

  #reschedule(): void {
    if (this.#state === "running") this.#schedule(this.#wantedAtMs());
  }

  #round(timeoutMs: number): void {
    this.#inRound = true;
    this.#hasPending = false;
    const { selector } = this.provider;
    const count = selector.wait(timeoutMs);
    this.#nowMs = this.provider.clock.nowMs();
    this.counters.countRound(count, this.#channels.size, this.#nowMs);
    for (let index = 0; index < count; index += 1) {
      this.#dispatch(selector.slotAt(index), selector.generationAt(index), selector.readyAt(index));
    }
    this.#runTimers();
    this.#runTasks();
    this.#inRound = false;
  }

  #dispatch(slot: number, generation: number, ready: number): void {
    const channel = this.#channels.get(slot, generation);
    if (channel === undefined) return;
    channel.fd.noteReady(ready);
    try {
      channel.handler.onReady(ready);
    } catch (error) {
      this.#report(error);
    }
  }

  #runTimers(): void {
    for (;;) {
      const timer = this.#timers.takeDue(this.#nowMs);
      if (timer === undefined) return;
      this.counters.countTimer();
      this.#guard(timer.task);
    }
  }

  /** Only those that are queued now: one that queues itself again must not starve the rest. */
  #runTasks(): void {
    if (this.#tasks.length === 0) return;
    const tasks = this.#tasks;
    this.#tasks = this.#spareTasks;
    this.counters.countTasks(tasks.length);
    for (const task of tasks) this.#guard(task);
    tasks.length = 0;
    this.#spareTasks = tasks;
  }

  #guard(task: () => void): void {
    try {
      task();
    } catch (error) {
      this.#report(error);
    }
  }

  #report(error: unknown): void {
    this.counters.countError();
    this.#onError(error);
  }

  /** For `wait`: whole milliseconds, rounded up so that a timer is due when it returns. */
  #timeoutMs(): number {
    if (this.#tasks.length > 0) return 0;
    const atMs = this.#timers.nextAtMs;
    if (atMs === undefined) return -1;
    const leftMs = Math.ceil(atMs - this.provider.clock.nowMs());
    return leftMs <= 0 ? 0 : Math.min(leftMs, MAX_TIMEOUT_MS);
  }

  #wantedAtMs(): number {
    if (this.#tasks.length > 0 || this.#hasPending) return this.provider.clock.nowMs();
    return this.#timers.nextAtMs ?? Number.POSITIVE_INFINITY;
  }

  /** Host-driven: has a round run at that time, unless one runs before. */
  #schedule(atMs: number): void {
    if (this.#state !== "running" || this.#inRound || atMs >= this.#hostTimerAtMs) return;
    this.#hostTimer?.cancel();
    this.#hostTimerAtMs = atMs;
    this.#hostTimer = this.provider.clock.callAt(atMs, () => this.#hostRound());
  }

  #hostRound(): void {
    this.#hostTimerAtMs = Number.POSITIVE_INFINITY;
    this.#hostTimer = undefined;
    if (this.#state === "running") this.#round(0);
    if (this.#state === "closing") this.#finish();
    else this.#schedule(this.#wantedAtMs());
  }

  #finish(): void {
    this.#state = "closed";
    this.#hostTimer?.cancel();
    for (const channel of [...this.#channels.values()]) {
      if (!channel.fd.isClosed) channel.fd.detach();
      this.#guard(() => channel.handler.onRemoved());
    }
    this.#timers.clear();
    this.#tasks.length = 0;
    this.provider.close();
  }
}

function describeChannel({ fd, handler, slot, generation }: Channel): ChannelEntry | undefined {
  if (fd.isClosed || handler.describe === undefined) return undefined;
  try {
    return { id: { slot, generation }, ...handler.describe() };
  } catch {
    // Its peer is gone, and the event that says so is not handled yet: it is listed no more.
    return undefined;
  }
}

/** Far below what an int holds; a longer wait is taken in parts. */
const MAX_TIMEOUT_MS = 3_600_000;
