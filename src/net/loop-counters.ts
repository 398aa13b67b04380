/** What a loop did so far. */
export interface LoopStats {
  readonly rounds: number;
  readonly events: number;
  readonly timers: number;
  readonly tasks: number;
  /** How often it stayed awake for the next event; see `PosixSelector`. */
  readonly looks: number;
  /** Callbacks that threw. */
  readonly errors: number;
  /** In the loop at its last round. */
  readonly fds: number;
  /** When the last round began, by the loop's clock: one that stands still is stuck, or idle. */
  readonly lastRoundMs: number;
  /** The system's number of its thread; 0 where it has none of its own, or that is not known. */
  readonly threadId: number;
}

const ROUNDS = 0;
const EVENTS = 1;
const TIMERS = 2;
const TASKS = 3;
const ERRORS = 4;
const FDS = 5;
const LAST_ROUND_MS = 6;
const THREAD_ID = 7;
const LOOKS = 8;
const COUNT = 9;

/**
 * Numbers that one loop writes and any thread reads without stopping it. Each is one aligned 64-bit
 * float, which is written as a whole; they are exact up to 2^53.
 */
export class LoopCounters {
  readonly #values: Float64Array;

  constructor(memory: SharedArrayBuffer = LoopCounters.allocate()) {
    this.#values = new Float64Array(memory);
  }

  static allocate(): SharedArrayBuffer {
    return new SharedArrayBuffer(COUNT * Float64Array.BYTES_PER_ELEMENT);
  }

  setThread(id: number): void {
    this.#values[THREAD_ID] = id;
  }

  countRound(events: number, fds: number, nowMs: number): void {
    this.#add(ROUNDS, 1);
    this.#add(EVENTS, events);
    this.#values[FDS] = fds;
    this.#values[LAST_ROUND_MS] = nowMs;
  }

  countTimer(): void {
    this.#add(TIMERS, 1);
  }

  countTasks(count: number): void {
    this.#add(TASKS, count);
  }

  countLook(): void {
    this.#add(LOOKS, 1);
  }

  countError(): void {
    this.#add(ERRORS, 1);
  }

  read(): LoopStats {
    const at = (index: number): number => this.#values[index] ?? 0;
    return {
      rounds: at(ROUNDS),
      events: at(EVENTS),
      timers: at(TIMERS),
      tasks: at(TASKS),
      looks: at(LOOKS),
      errors: at(ERRORS),
      fds: at(FDS),
      lastRoundMs: at(LAST_ROUND_MS),
      threadId: at(THREAD_ID),
    };
  }

  #add(index: number, count: number): void {
    this.#values[index] = (this.#values[index] ?? 0) + count;
  }
}
