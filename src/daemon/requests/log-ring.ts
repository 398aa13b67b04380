import type { Log } from "../../core/log.ts";
import type { EventItem } from "../instance-socket/command-protocol.ts";

export interface LogLine extends EventItem {
  readonly timeMs: number;
  readonly fields: object;
}

const MAX_KEPT = 1000;

/** The last lines of the log, for those who come later, and each new one for those who follow. */
export class LogRing {
  readonly #nowMs: () => number;
  #lines: LogLine[] = [];
  readonly #listeners = new Set<(line: LogLine) => void>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** The same log; what is said there is kept. Details stay out: there are too many of them. */
  tee(log: Log): Log {
    const both =
      (level: "info" | "warn" | "error") =>
      (fields: object, message: string): void => {
        log[level](fields, message);
        this.#keep({ timeMs: this.#nowMs(), level, fields, message });
      };
    return {
      debug: (fields, message) => log.debug(fields, message),
      info: both("info"),
      warn: both("warn"),
      error: both("error"),
    };
  }

  lines(): readonly LogLine[] {
    return this.#lines.slice(-MAX_KEPT);
  }

  /** Calls `listener` until the result is called. */
  onLine(listener: (line: LogLine) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #keep(line: LogLine): void {
    this.#lines.push(line);
    if (this.#lines.length > 2 * MAX_KEPT) this.#lines = this.#lines.slice(-MAX_KEPT);
    for (const listener of this.#listeners) listener(line);
  }
}
