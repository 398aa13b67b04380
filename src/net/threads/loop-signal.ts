const STATE = 0;
const STOP = 1;
const WORDS = 2;

const STARTING = 0;
const RUNNING = 1;
const STOPPED = 2;

/**
 * The few bits by which a thread that is blocked in its loop is told to stop, and says that it did;
 * without messages, because they need an event loop that may not turn any more.
 */
export class LoopSignal {
  readonly #words: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory);
  }

  static allocate(): SharedArrayBuffer {
    return new SharedArrayBuffer(WORDS * Int32Array.BYTES_PER_ELEMENT);
  }

  /** For the loop: it will block from now on. False where it shall stop before it began. */
  begin(): boolean {
    Atomics.store(this.#words, STATE, RUNNING);
    return !this.shallStop;
  }

  /** For the loop: it blocks no more. */
  end(): void {
    Atomics.store(this.#words, STATE, STOPPED);
    Atomics.notify(this.#words, STATE);
  }

  get shallStop(): boolean {
    return Atomics.load(this.#words, STOP) !== 0;
  }

  get isRunning(): boolean {
    return Atomics.load(this.#words, STATE) === RUNNING;
  }

  get isStarting(): boolean {
    return Atomics.load(this.#words, STATE) === STARTING;
  }

  /** Effective once the loop is woken. */
  askToStop(): void {
    Atomics.store(this.#words, STOP, 1);
  }

  /** Blocks the caller until the loop has stopped; false where it did not in that time. */
  waitForStop(timeoutMs: number): boolean {
    if (this.isRunning) Atomics.wait(this.#words, STATE, RUNNING, timeoutMs);
    return !this.isRunning;
  }
}
