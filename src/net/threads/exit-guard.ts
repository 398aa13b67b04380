import type { LoopSignal } from "./loop-signal.ts";

/** A loop that blocks its thread, as the guard sees it. */
export interface StoppableLoop {
  readonly signal: LoopSignal;
  wake(): void;
}

/** The part of `process` that the guard listens to. */
export interface ExitEvents {
  on(event: "exit", listener: (exitCode: number) => void): unknown;
  off(event: "exit", listener: (exitCode: number) => void): unknown;
}

const PATIENCE_MS = 500;

/**
 * Makes sure that the process ends when it shall. A thread that is blocked in a system call is not
 * ended by Node, which waits for it: so whatever ends the process (its last line, `process.exit`, an
 * error that nobody caught) first wakes all loops to stop, and where one does not in time, the process is
 * ended without asking further.
 */
export class ExitGuard {
  readonly #loops = new Set<StoppableLoop>();
  readonly #events: ExitEvents;
  readonly #exitNow: (exitCode: number) => void;
  readonly #nowMs: () => number;
  readonly #listener = (exitCode: number): void => this.stopAll(exitCode);

  constructor(options: {
    readonly events: ExitEvents;
    /** Ends the process at once, whatever its threads do. */
    readonly exitNow: (exitCode: number) => void;
    readonly nowMs: () => number;
  }) {
    this.#events = options.events;
    this.#exitNow = options.exitNow;
    this.#nowMs = options.nowMs;
    this.#events.on("exit", this.#listener);
  }

  add(loop: StoppableLoop): void {
    this.#loops.add(loop);
  }

  remove(loop: StoppableLoop): void {
    this.#loops.delete(loop);
  }

  /** Blocks until all have stopped; ends the process where one does not. */
  stopAll(exitCode: number): void {
    const endMs = this.#nowMs() + PATIENCE_MS;
    for (const { signal, wake } of this.#loops) {
      signal.askToStop();
      wake();
    }
    for (const { signal } of this.#loops) {
      if (!signal.waitForStop(Math.max(0, endMs - this.#nowMs()))) this.#exitNow(exitCode);
    }
  }

  dispose(): void {
    this.#events.off("exit", this.#listener);
  }
}
